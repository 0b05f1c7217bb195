package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gantry-run/gantry/internal/lazyregexp"
)

// The rules that decide what is a claim and of which kind. They are data: to
// change what a launch accepts, change a list here and read the claims of a few
// real repositories.

const (
	minWords = 5   // of a sentence
	maxChars = 300 // of a claim as a reader sees it
)

// skipSection matches headings whose text tells about the project's life, its
// people or its pages, and not about the product. It holds for what is below too.
var skipSection = lazyregexp.New(`(?i)^\W*(table of contents|contents|toc|index|sponsor\w*|backers?|funding|donat\w*|support us|support|getting help|help|contribut\w*|how to contribute|contributors?|code of conduct|licen[sc]\w*|copyright|legal|disclaimer|trademark\w*|change ?log|changes|release notes|releases|release process|what'?s new|history|acknowledge?ments?\b.*|credits?|authors?|maintainers?|team|(current )?project team.*|emeriti.*|.*emeritus.*|.*emeriti.*|triagers?|.*committee.*|community|who uses.*|used by|users|testimonials|showcase|built with.*|projects using.*|adopters|related( projects| work)?|see also|further reading|resources|links|references|learn more|more information|documentation|docs.*|articles|videos|blog posts|press|roadmap|future|todo|to ?do|planned.*|status|project status|badges?|ci|continuous integration|development|developing|develop|hacking|building( from source)?|build from source|running (the )?tests|tests?|testing|benchmarks?|performance comparison|performance benchmarks?|comparison.*|alternatives?.*|similar projects|motivation|why\b.*|background|philosophy|inspiration|origins?.*|story|faq|frequently asked.*|questions?\b.*|security( policy| issues)?|reporting.*|bugs?( reports?)?|issues|feedback|contact|stay in touch|social|chat|stars?.*|star history|thanks.*|thank you.*|special thanks.*|info|news|announcements?|about (the )?authors?|for enterprise|.* for enterprise|citation|cite|citing|dependents|versioning|deprecat\w* policy|upgrading|migrat\w*.*|examples? output|translations?|languages)\W*$`)

// processDoc matches documents that are skipSection as a whole.
var processDoc = lazyregexp.New(`(?i)^(changelog|changes|history|contribut|(code[_-]of[_-])?conduct|security|licen[sc]e|copying|authors|maintainers|notice|governance|releas|roadmap|todo|news|agents|claude|gemini|copilot|pull_request|issue_template|support|sponsors|backers|credits|thanks|third.?party|patents|trademark|projects_using|rough.?edges|design|mcpgodebug)`)

// headingKind sorts a section by its heading; the first that matches counts.
type headingKind struct {
	kind    string
	pattern *lazyregexp.Regexp
}

func headingKinds() []headingKind {
	return []headingKind{
		{kindLimitation, limitationHeading}, {kindCompatibility, compatibilityHeading}, {kindInstall, installHeading},
		{kindQuickstart, quickstartHeading}, {kindFormat, formatHeading}, {kindFeature, featureHeading}, {kindAPI, apiHeading}, {kindWorkflow, workflowHeading},
	}
}

var (
	limitationHeading    = lazyregexp.New(`(?i)\b(limitations?|known issues|caveats?|gotchas?|restrictions?|rough edges|unsupported|not supported)\b`)
	compatibilityHeading = lazyregexp.New(`(?i)\b(requirements?|prerequisites?|compatib\w+|supported (platforms?|versions?|systems|browsers|environments)|(browser|platform|version|runtime|node|python|go) support|platforms?)\b`)
	installHeading       = lazyregexp.New(`(?i)\b(install\w*|set ?up|setting up|download)\b`)
	quickstartHeading    = lazyregexp.New(`(?i)\b(quick ?-?start|getting started|get started|first steps|hello,? world|basic (usage|example))\b`)
	formatHeading        = lazyregexp.New(`(?i)\b(supported (file )?(formats?|types)|file formats?)\b`)
	featureHeading       = lazyregexp.New(`(?i)\b(features?|feature support|highlights?|capabilit\w+|what (it|can|does)\b.*|overview|introduction|about|key (points|concepts))\b`)
	apiHeading           = lazyregexp.New(`(?i)\b(api|reference|methods?|functions?|classes|properties|options|parameters|configuration|settings)\b`)
	workflowHeading      = lazyregexp.New(`(?i)\b(usage|using|use|how to|guide|tutorial|examples?|working with|creating|writing|adding|running|customi[sz]\w+|config\w+|command[- ]line|define|build\w*|handling|integrat\w+|deploy\w*)\b`)

	// Headings and lead-ins under which a bullet is a feature even if it is no sentence.
	featureList = lazyregexp.New(`(?i)\b(features?|feature support|highlights?|capabilit\w+|(in|at) (\w+) (points|glance)|supports?|provides?|offers?|includes?)\b`)
)

// wordingKind sorts a claim by its own words, before its heading does.
var (
	limitationWords    = lazyregexp.New(`(?i)(\b(does|do|is|are|can|will)(n'?t| not) (yet |currently )?(support\w*|work|implement\w*|available|possible|handle|allow\w*|include|guarantee\w*)|\bnot (yet |currently )?(supported|implemented|available|possible|guaranteed)|\bcannot\b|\bcan'?t\b|\bunsupported\b|\b(is|are) experimental\b|\bexperimental support\b|\b(is|are|was|were) deprecated\b|\bdeprecated (since|as of|in favou?r)\b|\bno longer\b|\bwork in progress\b|\b(is|are) (still )?(unstable|in (alpha|beta))\b|\bonly works\b)`)
	compatibilityWords = lazyregexp.New(`(?i)(\b(requires?|needs?|supports?|works? (with|on|in)|runs? on|compatible with|targets?|tested (on|with))\b.*\b((?-i:Python|Node(\.js)?|Go|Java|JDK|Ruby|PHP|Rust|Swift|\.NET|Kotlin|Deno|Bun|Windows|Linux|macOS|ES\d+|PyPy)|browsers?|versions? of)\b|\b\d[\w.]* (or|and) (higher|later|newer|above|up)\b|\d\+ is required|\brequires? \S+ v?\d[\d.]*(\+|[.]?$| or )|\bcompatib(le|ility)\b)`)
	installWords       = lazyregexp.New("(?i)\\b(install(ed|able|ation)?|download(ed)?)\\b.*\\b(with|via|by|using|from|through|running)\\b")
	formatNames        = lazyregexp.New(`\b(JSON5?|JSONC|NDJSON|YAML|TOML|XML|CSV|TSV|PDF|HTML5?|Markdown|reStructuredText|AsciiDoc|DOCX?|XLSX?|PPTX?|ODT|ODS|RTF|EPUB|PNG|JPE?G|GIF|SVG|WebP|BMP|TIFF|MP3|MP4|WAV|OGG|FLAC|ZIP|TAR|GZIP|Parquet|Avro|Protobuf|SQLite|INI|OBJ|STL|FBX|glTF|GLTF|USD|DXF|GeoJSON|KML|LaTeX|BibTeX|RSS|Atom|MSG|EML|iCalendar|vCard)\b`)
	formatWords        = lazyregexp.New(`\b(?i:supports?|reads?|writes?|parses?|imports?|exports?|converts?|renders?|loads?|saves?|generates?|encod\w+|decod\w+|handles?|conversion|serializ\w+)\b[^.;]{0,60}?` + formatNames.String())
	platformNames      = lazyregexp.New(`\b(Windows|Linux|macOS|Mac OS X|FreeBSD|OpenBSD|NetBSD|Android|iOS)\b`)
	platformWords      = lazyregexp.New(`(?i)\b(supports?|runs? on|works? on|available (on|for)|compatible with|platforms?)\b`)
)

// What makes a sentence no claim.
var (
	firstPerson = lazyregexp.New(`(?i)\b(we|we're|we've|we'll|our|ours|us|i|i'm|i've|my|me|let's|lets us)\b`)
	outside     = lazyregexp.New(`(?i)(\b(above|below|previous(ly)?|earlier|as follows|following|aforementioned|here(in)?|next (section|example|step|chapter)|later (section|on)|(this|the) (readme|document|page|section|chapter|guide|tutorial|list|table|file|directory|repository|repo|project)\b|these|this (way|example|case|means|will|is|command|script|program|code|function|snippet|new|one)|(first|second|last|other|same) (example|one|argument|case)|examples? (show|below|above|demonstrat)\w*|for (example|instance|more|details|further|information|a (complete|full|list)|complete)|in that case|if (so|not)|see|refer to|click (here|on|the)|learn more|read more|more (info|information|details|samples|examples) |check out|take a look|shown|screenshot|demo|video|logo|badge|star|tweet|discord|slack|gitter|stack ?overflow|mailing list|issue tracker|pull requests?|please|sorry|thanks?|hope|welcome|happy|feel free|don't worry|satisfaction|fun|awesome|amazing|cool|magic\w*|behold)\b|\b(in|for|to|with|of|on|from|by|at|under|than|about) (this|that|those|it|them)\b( [a-z]|[.,]|$)|\bdocumentation (is|can)\b|\b(the|other) (former|latter)\b|\blisted\b|https?://)`)
	startsLost  = lazyregexp.New(`(?i)^(it|its|it's|they|their|them|this|these|that|that's|those|he|she|his|her|here|there|there's|such|both|otherwise|however|but|and|or|so|thus|therefore|hence|then|instead|besides|still|yet|else|again|similarly|likewise|consequently|furthermore|moreover|likewise|meanwhile|in (summary|short|other words|addition to)|on the other hand|for example|for instance|as (a result|you|with|shown|mentioned|described)|if (so|not)|to (do|see|learn|run|try|get|use|make|that end)|once|after|before|when|while|in some cases|for situations|in order|where|which|who|what|why|how|because|since|although|though|doing (this|so|that)|not|another|one|some|many|most|several|the same|each|also|now|today|recently|currently|just|simply|e\.g|i\.e|etc|note|nb|tip|warning|caution|protip|hint|example|examples|usage|output|result|default|todo|fixme|import|export|const|var|let|function)\b[^-]`)
	imperative  = lazyregexp.New(`(?i)^(use|run|install|create|see|click|add|make|set|call|check|read|follow|visit|try|consider|ensure|keep|remember|open|get|download|clone|start|stop|go (to|ahead|back|through|into)|do|don't|be|have|take|give|put|write|define|declare|build|compile|test|configure|specify|pass|return|returns|import|export|include|enable|disable|update|upgrade|remove|delete|copy|paste|move|rename|replace|edit|change|modify|save|load|fetch|send|submit|report|ask|contact|join|watch|look|find|search|learn|explore|enter|type|press|select|choose|pick|wait|repeat|avoid|prefer|think|imagine|suppose|assume|say|tell|help|thank|star|fork|implement|extend|override|register|wrap|chain|combine|connect|execute|invoke|apply|provide|initialize|instantiate|always|never|detect|decide|determine|discover|skip|drop|first|next|finally|lastly|easily|simply|just|view|launch|deploy|publish|push|commit|generate|convert|parse|print|show|display|log|execute|verify|validate|review|bring|mix|stick|rely|switch|turn|throw|catch|handle|listen|bind|attach|mount|access|inspect|debug|match|sort|filter|map|group|merge|split|join|allow|require|need|navigate|customize|customise)\b`)
	stripLead   = lazyregexp.New(`^(?i:(please )?note that|note:|note -|important:|tip:|warning:|additionally,|in addition,|also,|furthermore,|moreover,|of course,|by the way,|in fact,|basically,|essentially,|that said,|as such,|fortunately,|in general,|generally,)\s+`)
	finiteVerb  = lazyregexp.New(`(?i)\b(is|are|was|were|has|have|can|may|must|will|should|does|do|doesn't|don't|isn't|aren't|cannot|could|would|might|(accept|act|add|aim|allow|appl|attach|automate|bind|build|bring|call|carr|chang|check|clear|com|combin|compil|configur|conform|connect|consist|contain|control|convert|cop|cover|creat|declar|decid|decod|default|defin|deliver|depend|describ|detect|determin|differ|display|do|emit|enabl|encapsulat|encod|enforc|ensur|escap|evaluat|execut|exist|expect|expos|extend|extract|fail|fall|fetch|filter|focus|follow|format|function|generat|get|giv|group|guarantee|handl|help|hold|ignor|implement|import|improv|includ|inherit|initializ|inject|insert|integrat|interact|keep|lets?|limit|link|listen|live|load|log|look|maintain|make|manag|map|match|mean|measure|mirror|monitor|need|offer|omit|open|operat|optimiz|outputs?|overrid|pars|pass|perform|persist|pick|point|prefer|prepend|preserv|prevent|print|process|produc|propagat|protect|provid|publish|pull|push|put|read|receiv|recogniz|reduc|refer|register|reject|rel|remov|render|replac|report|represent|requir|resolv|respect|respond|return|run|sav|scal|search|send|serv|set|ship|show|simplif|sit|skip|sort|specif|stand|start|stop|stor|stream|suit|suppl|support|surviv|switch|tak|target|test|throw|track|transform|translat|treat|trigger|tr|turn|us|validat|var|verif|wait|work|wrap|writ|yield)(s|es|ies))\b`)
	pluralVerb  = lazyregexp.New(`(?i)^([\w' -]{3,50}?(s|en|ple)) (accept|allow|appear|apply|belong|build|carry|come|compile|configure|contain|control|create|define|depend|describe|differ|enable|expose|follow|generate|give|handle|help|implement|include|inherit|let|live|make|manage|map|match|need|offer|operate|own|parse|perform|point|produce|provide|receive|refer|represent|require|resolve|return|run|send|serve|share|ship|start|stay|store|support|take|use|wait|work|write)\b`)
	secondChat  = lazyregexp.New(`(?i)(\byou('ll| will| want| might want| probably| have just| just| know| get| see|'ve|'d|'re)\b|\byour (own )?(friend|life|day)\b)`)
	// A sentence whose subject is what the text around it talks of.
	lostSubject = lazyregexp.New(`(?i)^(can|may|must|will|would|could|might|should|is|are|has|have|does|was|were|[a-z-]*(accepts|depends|detects|adds|allows|calls|checks|contains|controls|converts|creates|decides|defines|describes|detects|determines|enables|ensures|exits|exposes|generates|gets|gives|handles|includes|indicates|keeps|lets|lists|loads|makes|matches|offers|overrides|parses|performs|prints|provides|reads|registers|removes|renders|replaces|requires|resolves|returns|runs|sends|sets|shows|specifies|starts|stops|stores|supports|takes|throws|tries|uses|validates|works|wraps|writes))\b`)
	lostArticle = lazyregexp.New(`(?i)^the (\w+ )?(methods?|parameters?|options?|functions?|arguments?|values?|results?|result type|output|return value|callback|handler|difference|idea|reason|advantage|response|request|process|script|code|fields?|property|properties) (is|are|must|can|may|will|has|have|also|does|should)\b`)
	history     = lazyregexp.New(`(?i)(\b(is|was|were|been|has been|have been) (postponed|replaced|removed|added|changed|introduced|renamed|rewritten|reworked)\b|\bshould (not )?have\b|\bas of (january|february|march|april|may|june|july|august|september|october|november|december)\b|\bused by .*\d|\b(is|are) used (in|by) (many|hundreds|thousands|over|more than|some|several|companies|projects)\b|\bmost (downloaded|popular)\b|\bdownloads (every|per|a) |\b(either way|this also|this simply|otherwise be|just that|do (so|that)|illustrates?|real[- ]world examples?|pattern to follow|on the shoulders)\b|\bexamples?:|\bTODO\b|\b(MIT|Apache|BSD|GPL|ISC) licen[sc]e\b|\bjust (like|to)\b|\bin the examples?\b)`)
	youOpening  = lazyregexp.New(`(?i)^you (can|may|need|must|do not)\b`)
	leadJoin    = lazyregexp.New(`(?i)^(.{2,100}?\b(provides|supports|includes|offers|features|has|contains|comes with|gives you|ships with|handles|implements|provide|support|include|offer))( support for)?( the following)?( \w+)?( features| options| capabilities| things)?\s*:$`)
	badChars    = lazyregexp.New(`(\{\{|\}\}|<!--|\$\{|\|\s*\||[\x{2192}\x{2190}\x{21d2}]|=>|\.\.\.$|…$)`)
	badge       = lazyregexp.New(`(?i)(shields\.io|badge)`)
)

// trimLead removes what only connects a sentence to the one before, and symbols
// that decorate it.
func trimLead(text string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool {
		return r == '>' || r > 0x2100 && !unicode.IsLetter(r) || unicode.IsSpace(r)
	})
	return upperFirst(stripLead.ReplaceAllString(text, ""))
}

// isClaim reports whether a sentence states a fact that stands on its own.
func isClaim(plain string) bool {
	switch {
	case !isReadable(plain), lostSubject.MatchString(plain), lostArticle.MatchString(plain), history.MatchString(plain), startsLost.MatchString(plain), secondChat.MatchString(plain), outside.MatchString(plain):
		return false
	case len(strings.Fields(plain)) < minWords, strings.HasSuffix(plain, "!"), imperative.MatchString(plain):
		return false
	case strings.HasPrefix(strings.ToLower(plain), "you ") && !youOpening.MatchString(plain):
		return false
	}
	if head := relative.FindString(plain); head != "" && !finiteVerb.MatchString(head) && len(finiteVerb.FindAllString(plain, 2)) < 2 {
		return false // "A bar that works everywhere": a name, no statement
	}
	return finiteVerb.MatchString(plain) || pluralVerb.MatchString(plain)
}

// relative matches the start of a text up to the clause that describes its subject.
var relative = lazyregexp.New(`^(A|An) .*?\b(which|that|who)\b`)

// isReadable reports whether a text could stand on a page at all: short enough,
// no question, no announcement, in Latin letters, from nobody in particular.
func isReadable(plain string) bool {
	if plain == "" || utf8.RuneCountInString(plain) > maxChars || strings.HasSuffix(plain, "?") || strings.HasSuffix(plain, ":") {
		return false
	}
	if firstPerson.MatchString(plain) || badChars.MatchString(plain) || badge.MatchString(plain) {
		return false
	}
	if strings.Count(plain, "(") != strings.Count(plain, ")") || strings.Count(plain, "`")%2 != 0 {
		return false
	}
	letters, latin, symbols := 0, 0, 0
	for _, r := range plain {
		switch {
		case unicode.Is(unicode.Latin, r):
			letters, latin = letters+1, latin+1
		case unicode.IsLetter(r):
			letters++
		case !unicode.IsSpace(r) && !unicode.IsDigit(r):
			symbols++
		}
	}
	return plain[0] != '\\' && plain[0] != '*' && plain[0] != '(' && letters >= 10 && latin*10 >= letters*9 && symbols*3 < letters
}

// finish makes a text end with a full stop.
func finish(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), " .;,:")
	return text + "."
}

func upperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError || !unicode.IsLower(r) {
		return s
	}
	if word, _, _ := strings.Cut(s, " "); strings.ContainsAny(word[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ._/0123456789") {
		return s // a name: iOS, k8s, x/y
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// properNouns start with a capital wherever they stand.
var properNouns = lazyregexp.New(`^(Python|Unicode|Go|Java|JavaScript|TypeScript|Node|Rust|Ruby|Windows|Linux|Mac|Docker|Kubernetes|Markdown|Git|GitHub|Google|Amazon|Azure|Microsoft|Apache|English|Boolean|Swift|Kotlin|React|Vue|Angular|Django|Flask|Redis|Postgres\w*|Bash|Zsh|Fish|Prometheus|Cobra|Hugo|Unix|Excel|Word)\b`)

// lowerFirst makes the first word fit into a sentence unless it is a name.
func lowerFirst(s string) string {
	word, _, _ := strings.Cut(s, " ")
	r, size := utf8.DecodeRuneInString(s)
	if !unicode.IsUpper(r) || properNouns.MatchString(s) || len(word) > 1 && strings.ContainsAny(word[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.") || len(word) == 1 && word != "A" {
		return s
	}
	return string(unicode.ToLower(r)) + s[size:]
}
