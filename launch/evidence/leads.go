package evidence

import (
	"strings"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

const maxLead = 200 // characters

// lead returns the sentence that introduces the i-th block, which is code, in its
// document: an instruction, or one that ends with a colon. One that states a fact
// is a claim and no lead.
func (g *gatherer) lead(doc document, i int) string {
	if i == 0 {
		return ""
	}
	b, before := doc.blocks[i], doc.blocks[i-1]
	if before.kind != paragraph || before.section().line != b.section().line || b.start-before.end > 4 || before.prose.bare {
		return ""
	}
	sentences := before.prose.split()
	if len(sentences) == 0 {
		return ""
	}
	s := sentences[len(sentences)-1]
	text := strings.TrimSpace(trimLead(s.text))
	plain := plainText(text)
	bare := strings.TrimRight(plain, " .:")
	instructs := strings.HasSuffix(plain, ":") || imperative.MatchString(plain) || aimed.MatchString(plain)
	if !instructs || len(strings.Fields(bare)) < 2 || utf8.RuneCountInString(bare) > maxLead || !isReadable(bare+", as shown") ||
		leadsOut.MatchString(bare) || strings.HasSuffix(plain, "!") {
		return ""
	}
	if isClaim(bare+".") && !imperative.MatchString(plain) && !dangles.MatchString(bare) {
		return "" // said as a claim, or not at all
	}
	return strings.TrimRight(text, " .:") + ":"
}

var (
	// aimed matches an instruction that says first what it is for.
	aimed = lazyregexp.New(`(?i)^(to|given|for|if|when|in order to) [^,]{3,80}, (just |simply |first )?(use|run|call|pass|set|add|create|import|write|define|type|do)\b`)
	// leadsOut matches an introduction that points to what a page may not have.
	leadsOut = lazyregexp.New(`(?i)(^(it|its|this|these|those|they|that|(in|for|with|from) (this|these|that|those)|such|and|but|or|also|then|which|otherwise|output|result|expected|returns?|becomes|prints|gives|yields|instead|again)\b|\b(above|below|previous(ly)?|earlier|screenshot|video|image|(next|last|other) (section|example|page)|later|readme|contribut\w*|pull request|repo(sitory)?|cloned?|fork)\b|https?://)`)
)
