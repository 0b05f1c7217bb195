package main

import (
	"path/filepath"
	"testing"
)

const acmeSite = `[[sites]]
name = "acme"
brand = "acme"
hosts = { products = "products.acme.example", docs = "docs.acme.example" }
families = [{ name = "widget", title = "Widget" }]
platforms = [{ name = "go", title = "Go", target_platform = "go" }]
product_slug = "{family}-{platform}"
product_name = "Acme {Family} for {Platform}"
repository = "https://git.acme.example/{family}-{platform}"
`

// A site that nobody ships: its product pages start launches once the configuration has it.
func TestASiteOfTheConfigurationIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rewrite("https://git.acme.example/widget-go", "product")
	const page = "https://docs.acme.example/widget/go/"
	p := w.serve(stateful)
	p.refused("launch_start_run_from_product_url", args{"url": page}, "UNSUPPORTED_SITE")
	p.end()
	file := filepath.Join(w.root, "gantry.toml")
	write(t, file, acmeSite)
	p = w.serve(stateful, "--config", file)
	started := p.must("launch_start_run_from_product_url", args{"url": page})
	if got := field(t, started, "derived_config.product_slug"); got != "widget-go" {
		t.Errorf("%s", started)
	}
	if v := w.rest(field(t, started, "run_id")); v.Failure != nil {
		t.Errorf("%s: %+v", v.State, v.Failure)
	}
	// Two sites with one host are nobody's fault but the configuration's.
	p.end()
	write(t, file, replace("docs.acme.example", "docs.aspose.org")(acmeSite))
	p = w.serve(stateful, "--config", file)
	p.refused("launch_start_run_from_product_url", args{"url": page}, "CONFIG_INVALID")
}
