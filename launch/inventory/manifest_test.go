package inventory_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gantry-run/gantry/launch/dossier"
)

type stated = dossier.Stated

func at(value string, line int) stated { return stated{Value: value, Line: line} }

func TestManifestsStateTheirFieldsWithLines(t *testing.T) {
	for _, c := range []struct {
		path, content string
		also          map[string]string
		want          dossier.Manifest
	}{
		{"package.json", "{\n \"name\": \"@a/w\",\n \"version\": \"1.2.3\",\n \"description\": \"It works\",\n \"license\": \"MIT\",\n \"bin\": {\"w\": \"w.js\"},\n \"engines\": {\"node\": \">=18\"},\n \"dependencies\": {\n  \"b\": \"^1\",\n  \"a\": \"~2\"\n }\n}", nil, dossier.Manifest{
			Kind: "npm", Name: at("@a/w", 2), Version: at("1.2.3", 3), Description: at("It works", 4), License: at("MIT", 5), Runtime: at("node >=18", 7),
			Dependencies: []dossier.Dependency{{Name: "a", Version: "~2", Line: 10}, {Name: "b", Version: "^1", Line: 9}}, Commands: []stated{at("w", 6)},
		}},
		{"pyproject.toml", "[build-system]\nrequires = [\"x\"]\n[project]\nname = \"w\"\nversion = \"2\"\ndescription = \"Does\"\nlicense = {text = \"MIT\"}\nrequires-python = \">=3.9\"\ndependencies = [\n  \"b[x]>=1 ; python_version < '4'\",\n  \"a\",\n]\n[project.scripts]\nw = \"w:main\"\n", nil, dossier.Manifest{
			Kind: "python", Name: at("w", 4), Version: at("2", 5), Description: at("Does", 6), License: at("MIT", 7), Runtime: at(">=3.9", 8),
			Dependencies: []dossier.Dependency{{Name: "a", Line: 11}, {Name: "b", Version: ">=1", Line: 10}}, Commands: []stated{at("w", 14)},
		}},
		{"pyproject.toml", "[tool.poetry]\nname = \"w\"\nversion = \"3\"\n[tool.poetry.dependencies]\npython = \"^3.8\"\na = \"^1\"\n", nil, dossier.Manifest{
			Kind: "python", Name: at("w", 2), Version: at("3", 3), Runtime: at("^3.8", 5), Dependencies: []dossier.Dependency{{Name: "a", Version: "^1", Line: 6}},
		}},
		{"setup.cfg", "[metadata]\nname = w\nversion = attr: w.__version__\nlicense = BSD\n[options]\npython_requires = >=3.8\ninstall_requires =\n    a>=1\n    b\n[options.entry_points]\nconsole_scripts =\n    wc = w:main\n", nil, dossier.Manifest{
			Kind: "python", Name: at("w", 2), License: at("BSD", 4), Runtime: at(">=3.8", 6),
			Dependencies: []dossier.Dependency{{Name: "a", Version: ">=1", Line: 8}, {Name: "b", Line: 9}}, Commands: []stated{at("wc", 12)},
		}},
		{"setup.py", "from setuptools import setup\nsetup(\n    name='w',\n    version=read('v'),\n    install_requires=[\n        'a>=1',\n    ],\n)\n", nil, dossier.Manifest{
			Kind: "python", Name: at("w", 3), Dependencies: []dossier.Dependency{{Name: "a", Version: ">=1", Line: 6}},
		}},
		{"go.mod", "module example.org/w\n\ngo 1.25\n\nrequire (\n\texample.org/b v1.0.0\n\texample.org/c v1.0.0 // indirect\n)\n", map[string]string{"cmd/w/main.go": "package main\n", "cmd/gen/main.go": "//go:build ignore\n\npackage main\n", "internal/x/main.go": "package main\n"}, dossier.Manifest{
			Kind: "go", Name: at("example.org/w", 1), Runtime: at("go 1.25", 3),
			Dependencies: []dossier.Dependency{{Name: "example.org/b", Version: "v1.0.0", Line: 6}}, Commands: []stated{at("example.org/w/cmd/w", 1)},
		}},
		{"pom.xml", "<project>\n<parent><groupId>org.acme</groupId><version>9</version></parent>\n<artifactId>w</artifactId>\n<description>Does\nit</description>\n<properties><java.version>17</java.version></properties>\n<dependencies>\n<dependency><groupId>a</groupId><artifactId>b</artifactId><version>1</version></dependency>\n<dependency><groupId>j</groupId><artifactId>u</artifactId><scope>test</scope></dependency>\n</dependencies>\n</project>", nil, dossier.Manifest{
			Kind: "maven", Name: at("org.acme:w", 3), Version: at("9", 2), Description: at("Does it", 5), Runtime: at("java 17", 6),
			Dependencies: []dossier.Dependency{{Name: "a:b", Version: "1", Line: 8}},
		}},
		{"build.gradle.kts", "group = \"org.acme\"\nversion = \"1.0\"\ndependencies {\n    implementation(\"a:b:1\")\n}\n", map[string]string{"settings.gradle.kts": "rootProject.name = \"w\"\n"}, dossier.Manifest{
			Kind: "gradle", Name: at("org.acme:w", 1), Version: at("1.0", 2), Dependencies: []dossier.Dependency{{Name: "a:b", Version: "1", Line: 4}},
		}},
		{"Acme.W.csproj", "<Project>\n<PropertyGroup>\n<TargetFramework>net8.0</TargetFramework>\n<Version>1.1</Version>\n</PropertyGroup>\n<ItemGroup>\n<PackageReference Include=\"A\" Version=\"2\" />\n</ItemGroup>\n</Project>", nil, dossier.Manifest{
			Kind: "dotnet", Name: at("Acme.W", 1), Version: at("1.1", 4), Runtime: at("net8.0", 3), Dependencies: []dossier.Dependency{{Name: "A", Version: "2", Line: 7}},
		}},
		{"Acme.sln", "Microsoft Visual Studio Solution File\nProject(\"{X}\") = \"Acme.W\", \"W.csproj\", \"{Y}\"\n", nil, dossier.Manifest{Kind: "dotnet", Name: at("Acme", 2)}},
		{"Cargo.toml", "[package]\nname = \"w\"\nversion = { workspace = true }\nlicense = \"MIT OR Apache-2.0\"\nrust-version = \"1.70\"\n[dependencies]\na = \"1\"\nb = { version = \"2\" }\n", map[string]string{"src/main.rs": "fn main() {}"}, dossier.Manifest{
			Kind: "cargo", Name: at("w", 2), License: at("MIT OR Apache-2.0", 4), Runtime: at("rust 1.70", 5),
			Dependencies: []dossier.Dependency{{Name: "a", Version: "1", Line: 7}, {Name: "b", Version: "2", Line: 8}}, Commands: []stated{at("w", 2)},
		}},
		{"composer.json", "{\n\"name\": \"acme/w\",\n\"license\": [\"MIT\"],\n\"require\": {\n\"php\": \">=8.1\",\n\"ext-json\": \"*\",\n\"a/b\": \"^1\"\n}\n}", nil, dossier.Manifest{
			Kind: "composer", Name: at("acme/w", 2), License: at("MIT", 3), Runtime: at("php >=8.1", 5), Dependencies: []dossier.Dependency{{Name: "a/b", Version: "^1", Line: 7}},
		}},
		{"w.gemspec", "Gem::Specification.new do |s|\n  s.name = \"w\"\n  s.version = W::VERSION\n  s.summary = 'Does it'\n  s.license = \"MIT\"\n  s.required_ruby_version = \">= 3.0\"\n  s.add_dependency \"a\", \"~> 1\"\nend\n", nil, dossier.Manifest{
			Kind: "rubygems", Name: at("w", 2), Description: at("Does it", 4), License: at("MIT", 5), Runtime: at("ruby >= 3.0", 6),
			Dependencies: []dossier.Dependency{{Name: "a", Version: "~> 1", Line: 7}},
		}},
		{"Package.swift", "// swift-tools-version:5.9\nimport PackageDescription\nlet package = Package(\n    name: \"W\",\n    dependencies: [\n        .package(url: \"https://example.org/a.git\", from: \"1.0.0\"),\n    ]\n)\n", nil, dossier.Manifest{
			Kind: "swift", Name: at("W", 4), Runtime: at("swift 5.9", 1), Dependencies: []dossier.Dependency{{Name: "https://example.org/a.git", Version: "1.0.0", Line: 6}},
		}},
	} {
		t.Run(c.path+" "+c.want.Name.Value, func(t *testing.T) {
			files := map[string]string{c.path: c.content}
			for name, content := range c.also {
				files[name] = content
			}
			inv := scan(t, write(t, files))
			c.want.Path = c.path
			if c.want.Dependencies == nil {
				c.want.Dependencies = []dossier.Dependency{}
			}
			if c.want.Commands == nil {
				c.want.Commands = []stated{}
			}
			if diff := cmp.Diff([]dossier.Manifest{c.want}, inv.Profile.Manifests); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenManifestIsKeptWithItsError(t *testing.T) {
	deep := strings.Repeat("[", 5000)
	for name, content := range map[string]string{
		"package.json": `{"name": "w",`, "composer.json": `{"a":` + deep, "pyproject.toml": "[project\n", "Cargo.toml": "a = " + deep, "go.mod": "module (\n",
		"pom.xml": "<project><a></b>", "W.csproj": strings.Repeat("<a>", 5000), "setup.py": "print('no call')\n", "x/package.json": strings.Repeat(" ", 2<<20),
	} {
		inv := scan(t, write(t, map[string]string{name: content, "README.md": "# W"}))
		if len(inv.Profile.Manifests) != 1 || inv.Profile.Manifests[0].Error == "" || inv.Profile.Manifests[0].Path != name {
			t.Errorf("%s: %+v", name, inv.Profile.Manifests)
		}
		if len(inv.Paths) != 2 {
			t.Errorf("%s: the rest of the tree is lost", name)
		}
	}
}
