package pages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gantry-run/gantry/launch/dossier"
)

// A module whose names do not fit one page has several: the first has its
// functions, values and as many types as there is room for, the others have the
// other types. The subject of the n-th is the module's name with "#n".

// module returns the module that a page is on, and which of its pages that is.
func (b *book) module(subject string) (m dossier.APIModule, n int) {
	name, number, _ := strings.Cut(subject, "#")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		n = 1
	}
	i := slices.IndexFunc(b.Facts.APISurface.Modules, func(m dossier.APIModule) bool { return m.Name == name })
	if i < 0 {
		return dossier.APIModule{}, 1
	}
	m = b.Facts.APISurface.Modules[i]
	return m, min(n, len(b.typePages(m)))
}

// moduleSubjects lists the pages that a module gets.
func (b *book) moduleSubjects(m dossier.APIModule) []string {
	subjects := []string{m.Name}
	for n := 2; n <= len(b.typePages(m)); n++ {
		subjects = append(subjects, fmt.Sprintf("%s#%d", m.Name, n))
	}
	return subjects
}

// typeGroup is a type with its methods.
type typeGroup struct {
	symbol  dossier.APISymbol
	methods []dossier.APISymbol
}

// lines is how many lines the group takes: one without methods, else a heading too.
func (g typeGroup) lines() int {
	if len(g.methods) == 0 {
		return 1
	}
	return len(g.methods) + 4
}

// typeGroups returns the types that have methods, then those that have none.
func typeGroups(m dossier.APIModule) []typeGroup {
	methods := map[string][]dossier.APISymbol{}
	for _, s := range m.Symbols {
		if s.Kind == "method" {
			methods[owner(s.Name)] = append(methods[owner(s.Name)], s)
		}
	}
	var groups, plain []typeGroup
	for _, s := range m.Symbols {
		switch {
		case !isType(s):
		case methods[s.Name] == nil:
			plain = append(plain, typeGroup{symbol: s})
		default:
			groups = append(groups, typeGroup{s, methods[s.Name]})
		}
	}
	return append(groups, plain...)
}

// headingLines is what the headings of a page's blocks take.
const headingLines = 15

// typePages distributes the types over as many pages as they need, at least one.
func (b *book) typePages(m dossier.APIModule) [][]typeGroup {
	pages := [][]typeGroup{nil}
	room := b.room() - headingLines
	for _, s := range m.Symbols {
		if !isType(s) && s.Kind != "method" {
			room--
		}
	}
	for _, group := range typeGroups(m) {
		if n := group.lines(); n > room && (len(pages[len(pages)-1]) > 0 || len(pages) == 1) {
			pages, room = append(pages, nil), b.room()-headingLines
		}
		pages[len(pages)-1] = append(pages[len(pages)-1], group)
		room -= group.lines()
	}
	return pages
}

// moduleTitle is what the n-th page of a module is called.
func (b *book) moduleTitle(subject string) string {
	m, n := b.module(subject)
	if n == 1 {
		return subject
	}
	groups := b.typePages(m)[n-1]
	if len(groups) == 1 {
		return fmt.Sprintf("%s: type %s", m.Name, groups[0].symbol.Name)
	}
	return fmt.Sprintf("%s: types %s to %s", m.Name, groups[0].symbol.Name, groups[len(groups)-1].symbol.Name)
}
