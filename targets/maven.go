package targets

import (
	"encoding/xml"
	"path"
)

// mavenRunner finds what pom.xml can do: the phases of the life cycle, profiles and the
// goals that plugins are bound to.
func mavenRunner() Runner {
	return Runner{
		Kind: "maven",
		Tools: []Tool{{
			Name: "mvn", Program: "mvn", Hint: "Install mvn: brew install maven (macOS) or apt-get install maven (Ubuntu)",
			elsewhere: func(t Target, up string) []string {
				return append([]string{"mvn", "-f", path.Join(up, "pom.xml")}, t.Argv[1:]...)
			},
		}},
		find: findMaven,
	}
}

var mavenPhases = []string{"clean", "validate", "compile", "test", "package", "verify", "install", "deploy", "site"}

// pom is the part of pom.xml that defines targets.
type pom struct {
	XMLName  xml.Name
	Profiles []struct {
		ID string `xml:"id"`
	} `xml:"profiles>profile"`
	Plugins []struct {
		Group      string `xml:"groupId"`
		Artifact   string `xml:"artifactId"`
		Executions []struct {
			ID    string   `xml:"id"`
			Goals []string `xml:"goals>goal"`
		} `xml:"executions>execution"`
	} `xml:"build>plugins>plugin"`
}

func findMaven(f *folder) {
	s, ok := f.first("pom.xml")
	if !ok {
		return
	}
	var p pom
	if err := xml.Unmarshal([]byte(s.text), &p); err != nil {
		f.report(s.path, Error, "the XML is not valid: %v", err)
		return
	}
	if p.XMLName.Local != "project" {
		f.report(s.path, Error, "the file is no Maven project")
		return
	}
	tool := mavenRunner().Tools[0]
	listed := map[string]bool{}
	add := func(t Target) {
		if !listed[t.Name] {
			listed[t.Name] = true
			t.tool, t.searched = tool, []string{"pom.xml"}
			f.add(s, t)
		}
	}
	for _, phase := range mavenPhases {
		add(Target{Name: phase, Argv: []string{"mvn", phase}, Description: "Maven " + phase + " phase"})
	}
	for _, profile := range p.Profiles {
		if profile.ID != "" {
			add(Target{Name: "profile:" + profile.ID, SourceName: profile.ID, Argv: []string{"mvn", "-P", profile.ID}, Description: "Maven profile " + profile.ID})
		}
	}
	for _, plugin := range p.Plugins {
		group := plugin.Group
		if group == "" {
			group = "org.apache.maven.plugins"
		}
		for _, e := range plugin.Executions {
			for _, goal := range e.Goals {
				name, says := plugin.Artifact+":"+goal, "Maven plugin goal"
				if e.ID != "" {
					says += " (execution " + e.ID + ")"
				}
				add(Target{Name: name, Argv: []string{"mvn", group + ":" + name}, Description: says})
			}
		}
	}
}
