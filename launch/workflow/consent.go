package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gantry-run/gantry/internal/fault"
)

// Consents is the file in which people say which workflows may run.
type Consents struct {
	Path string // absolute; empty: nothing is allowed
}

// Consent allows one workflow as it was then.
type Consent struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

type consentFile struct {
	Workflows []Consent `json:"workflows"`
}

// List returns the consents, sorted by path. A file that cannot be read allows nothing and
// is CONFIG_INVALID.
func (c Consents) List() ([]Consent, error) {
	if c.Path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f consentFile
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		err = dec.Decode(&f)
	}
	if err != nil {
		return nil, fault.New(fault.ConfigInvalid, "the file of allowed workflows cannot be used, so none is allowed").WithHint("correct or remove %s", filepath.Base(c.Path)).Because(err)
	}
	return f.Workflows, nil
}

// Check fails with ACCESS_DENIED unless the workflow may run as it is: it starts no
// program, or a person has allowed it. shown is how a caller names it.
func (c Consents) Check(d *Definition, shown string) error {
	if len(d.Commands()) == 0 {
		return nil
	}
	all, err := c.List()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(a Consent) bool { return a.Path == d.Path })
	switch {
	case i < 0:
		return denied("the workflow %.80q starts programs, and nobody has allowed it", shown)
	case all[i].SHA256 != d.SHA256():
		return denied("the workflow %.80q, or a file that it brings, is not what was allowed", shown)
	}
	return nil
}

func denied(format, shown string) error {
	return fault.New(fault.AccessDenied, format, shown).WithHint("a person who has read it allows it with: gantry allow --workflow %s", shown)
}

// Allow remembers that the workflow may run as it is now.
func (c Consents) Allow(d *Definition) error {
	return c.edit(func(all []Consent) []Consent {
		return append(without(all, d.Path), Consent{Path: d.Path, SHA256: d.SHA256()})
	})
}

// Withdraw takes back what was allowed of the workflow at a path, and reports whether
// anything was. Runs that are under way go on.
func (c Consents) Withdraw(path string) (found bool, err error) {
	err = c.edit(func(all []Consent) []Consent {
		left := without(all, path)
		found = len(left) < len(all)
		return left
	})
	return found, err
}

func without(all []Consent, path string) []Consent {
	return slices.DeleteFunc(slices.Clone(all), func(c Consent) bool { return c.Path == path })
}

// edit replaces the file whole.
func (c Consents) edit(change func([]Consent) []Consent) error {
	all, err := c.List()
	if err != nil {
		return err
	}
	all = change(all)
	slices.SortFunc(all, func(a, b Consent) int { return strings.Compare(a.Path, b.Path) })
	raw, err := json.MarshalIndent(consentFile{Workflows: all}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(c.Path), ".workflows-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(raw, '\n'))
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), c.Path)
}
