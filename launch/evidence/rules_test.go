package evidence

import "testing"

func TestSentencesThatStandAlone(t *testing.T) {
	for _, s := range []string{
		"Cobra is a library for creating powerful modern CLI applications.",
		"Chalk supports 256 colors and Truecolor on supported terminal apps.",
		"Extensions provide additional block types.",
		"You can add alternative names for a command with `.alias()`.",
		"By default, options on the command line are not positional.",
		"The `version()` method adds handling for displaying the command version.",
		"Node.js 18 or higher is required.",
	} {
		if !isClaim(s) {
			t.Errorf("dropped: %s", s)
		}
	}
}

func TestSentencesThatAreNoClaims(t *testing.T) {
	for _, s := range []string{
		"Why use this library instead of another?", "We love contributions from everyone.", "It supports everything.",
		"This example shows how the server works.", "See the documentation for more information.", "Click here to read the docs.",
		"The following options are available to users.", "The option is described below in the table.", "Use `go get` to install the library.",
		"Runs on every platform there is.", "Simply amazing performance is what users get!", "Two words.",
		"Docs are at https://example.org for all versions.", "The method is otherwise the same as before now.", "Widget {{< ref >}} is a shortcode of the site.",
		"Widgets are configured as follows:", "However, the server is not started then.", "Let's build a server that is fast.",
		"该库是一个非常快速的解析器 and it is good.", "Please note the widget is old.", "The `ping` method was removed from the protocol in 2020.",
		"You'll learn how the server is built.", "For more details on this topic, the guide is best.", "My favourite part is the parser.",
		"In this case the server returns an error.", "(The notice must be retained by users.)",
	} {
		if isClaim(trimLead(s)) {
			t.Errorf("kept: %s", s)
		}
	}
}

func TestKindFollowsWordingThenHeading(t *testing.T) {
	heads := func(titles ...string) []heading {
		var hs []heading
		for i, title := range titles {
			hs = append(hs, heading{level: i + 1, title: title})
		}
		return hs
	}
	for _, c := range []struct {
		text     string
		headings []heading
		readme   bool
		want     string
	}{
		{"Widget does not support streaming.", heads("Widget", "Features"), true, kindLimitation},
		{"Widget requires Python 3.9 or later.", heads("Widget", "Installation"), true, kindCompatibility},
		{"Widget reads and writes JSON and CSV.", heads("Widget"), true, kindFormat},
		{"Widget can be installed with any package manager.", heads("Widget"), true, kindInstall},
		{"The server starts in a second.", heads("Widget", "Getting started"), true, kindQuickstart},
		{"`Open` returns a handle.", heads("Widget", "API"), true, kindAPI},
		{"A widget has three parts.", heads("Widget"), true, kindFeature},
		{"A widget has three parts.", heads("Widget", "Concepts"), true, kindWorkflow},
		{"A widget has three parts.", heads("Guide", "Features"), false, kindWorkflow},
		{"A widget has three parts.", heads("Widget", "Known limitations"), true, kindLimitation},
	} {
		if got := kindOfClaim(c.text, c.headings, c.readme, len(c.headings) == 1); got != c.want {
			t.Errorf("%q below %v is %s, want %s", c.text, c.headings, got, c.want)
		}
	}
}

func TestSentencesEndWhereTheyEnd(t *testing.T) {
	var p prose
	p.write("It runs v1.2.3 of `a. B` fast. It uses e.g. Go (see A. B). Next! ", 3)
	p.write("Node.js is fine. [A. B](https://x.y/z. Q) ends.", 4)
	var got []string
	for _, s := range p.split() {
		got = append(got, s.text)
	}
	want := []string{"It runs v1.2.3 of `a. B` fast.", "It uses e.g. Go (see A. B).", "Next!", "Node.js is fine.", "[A. B](https://x.y/z. Q) ends."}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("sentence %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestSyntaxIsCheckedByRealParsers(t *testing.T) {
	for _, c := range []struct{ lang, content, want string }{
		{"go", "package p\n", valid}, {"go", "x := 1\nfmt.Println(x)\n", valid}, {"go", "func f() {}\n", valid},
		{"go", "import \"fmt\"\n\nfmt.Println(1)\n", valid}, {"go", "func {\n", invalid}, {"golang", "var x int\n", valid},
		{"json", "{\"a\": 1}\n", valid}, {"json", "{\"a\": 1,}\n", invalid}, {"json", "{}\n{}\n", valid},
		{"yaml", "a: 1\nb: [1, 2]\n", valid}, {"yaml", "a: [1\n", invalid}, {"yml", "---\na: 1\n---\nb: 2\n", valid},
		{"toml", "a = 1\n", valid}, {"toml", "a = \n", invalid},
		{"xml", "<a><b/></a>\n", valid}, {"xml", "<a></b>\n", invalid},
		{"python", "def (\n", unchecked}, {"unknown", "???\n", unchecked},
	} {
		got, problem := checkSyntax(c.lang, c.content)
		if got != c.want || (problem == "") == (c.want == invalid) {
			t.Errorf("%s %q is %s (%s), want %s", c.lang, c.content, got, problem, c.want)
		}
	}
}

func TestLicensesAreToldByTheirText(t *testing.T) {
	for want, text := range map[string]string{
		"MIT":          "MIT License\n\nPermission is hereby granted, free of charge, to any\nperson. The above copyright notice and this permission notice shall be included.",
		"Apache-2.0":   "   Apache License\n   Version 2.0, January 2004",
		"BSD-3-Clause": "Redistribution and use in source and binary\nforms. Neither the name of X",
		"BSD-2-Clause": "Redistribution and use in source and binary forms, with or without",
		"GPL-3.0":      "GNU GENERAL PUBLIC LICENSE\n Version 3, 29 June 2007",
		"LGPL-3.0":     "GNU LESSER GENERAL PUBLIC LICENSE\nVersion 3",
		"MPL-2.0":      "Mozilla Public License Version 2.0",
		"ISC":          "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",
		"Unlicense":    "This is free and unencumbered software released into the public domain.",
		"":             "All rights reserved.",
	} {
		if got, _ := recognise(text); got != want {
			t.Errorf("%q is taken for %q, want %q", text, got, want)
		}
	}
}

func TestJavaScriptScannerIsNotFooled(t *testing.T) {
	src := "// export const no1 = 1\n/* export const no2 = 1 */\nconst s = `\nexport const no3 = 1\n`\nconst r = /export const no4[/`]/\nif (x) {\n  exports.no5 = 1\n}\n" +
		"/** Adds up. More. */\nexport function add(a, b) { return `${a}` }\n\nexport class Box extends Base {\n  m() {}\n}\nexport const K = 1, L = 2\nexport default thing\nexports.old = function () {}\n"
	var names []string
	for _, s := range jsStatements(src) {
		if m := jsDeclared.FindStringSubmatch(s.text); m != nil {
			names = append(names, m[2])
			if m[2] == "add" && (s.doc != "Adds up." || s.line != 11) {
				t.Errorf("add: doc %q at line %d", s.doc, s.line)
			}
		}
		if m := jsCommon.FindStringSubmatch(s.text); m != nil {
			names = append(names, m[1])
		}
	}
	if got := len(names); got != 4 || names[0] != "add" || names[1] != "Box" || names[2] != "K" || names[3] != "old" {
		t.Errorf("names = %v", names)
	}
}

func TestPythonScannerIsNotFooled(t *testing.T) {
	src := "\"\"\"Module doc.\n\ndef no1(): pass\n\"\"\"\n# def no2(): pass\nTEXT = '''\nclass No3:\n'''\nif True:\n    def no4(): pass\n\nclass Box(Base):\n    '''A box. Of things.'''\n    def method(self): pass\n\nasync def run(\n    a: int = 1,  # the :\n    b=\"x:y\",\n) -> None:\n    \"\"\"Run it all.\"\"\"\n\ndef _private(): pass\n"
	m := pythonFile("w.box", "w/box.py", src)
	if len(m.Symbols) != 3 || m.Doc != "Module doc." {
		t.Fatalf("%+v", m)
	}
	box, method, run := m.Symbols[0], m.Symbols[1], m.Symbols[2]
	if method.Name != "Box.method" || method.Kind != "method" || method.Signature != "def method()" || method.Line != 14 {
		t.Errorf("%+v", method)
	}
	if run.Signature != `async def run(a: int = 1, b="x:y") -> None` {
		t.Errorf("signature %s", run.Signature)
	}
	if box.Name != "Box" || box.Kind != "class" || box.Doc != "A box." || box.Line != 12 || box.Signature != "class Box(Base)" {
		t.Errorf("%+v", box)
	}
	if run.Name != "run" || run.Kind != "func" || run.Doc != "Run it all." || run.Line != 16 {
		t.Errorf("%+v", run)
	}
}
