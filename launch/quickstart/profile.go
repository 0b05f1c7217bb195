package quickstart

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"path"

	"github.com/gantry-run/gantry/internal/fault"
)

// Profile says how a site's addresses name products, and where their repositories
// are. Its texts may hold {family} and {platform}, the names, and {Family} and
// {Platform}, the titles.
type Profile struct {
	Name            string            `json:"name" toml:"name"`                         // of the site
	Brand           string            `json:"brand" toml:"brand"`                       // word that all its packages have in their names; may be empty
	Hosts           map[string]string `json:"hosts" toml:"hosts"`                       // section → host name
	Families        []Family          `json:"families" toml:"families"`                 // product families
	Platforms       []Platform        `json:"platforms" toml:"platforms"`               // platforms of products
	ProductSlug     string            `json:"product_slug" toml:"product_slug"`         // run_config's product_slug
	ProductName     string            `json:"product_name" toml:"product_name"`         // run_config's product_name
	Repository      string            `json:"repository" toml:"repository"`             // a product's git URL
	Repositories    map[string]string `json:"repositories" toml:"repositories"`         // "family/platform" → git URL, where it is another
	RepositoryNames []string          `json:"repository_names" toml:"repository_names"` // how the site's repositories are called; the first that fits counts
}

// Family is one product family.
type Family struct {
	Name  string `json:"name" toml:"name"`   // as in addresses
	Title string `json:"title" toml:"title"` // as in texts
}

// Platform is one platform of products.
type Platform struct {
	Name    string   `json:"name" toml:"name"`                       // as in addresses
	Title   string   `json:"title" toml:"title"`                     // as in texts
	Target  string   `json:"target_platform" toml:"target_platform"` // run_config's value
	Aliases []string `json:"aliases" toml:"aliases"`                 // other names in addresses
}

// Profiles reads the folder "sites" of specs, in the order of the files' names.
// The error is CONFIG_INVALID for a profile that cannot be used, and INTERNAL for
// a file that cannot be read.
func Profiles(specs fs.FS) ([]Profile, error) {
	names, err := fs.Glob(specs, "sites/*.json")
	if err != nil {
		return nil, fault.New(fault.Internal, "the site profiles cannot be listed").Because(err)
	}
	var list []Profile
	for _, name := range names {
		raw, err := fs.ReadFile(specs, name)
		if err != nil {
			return nil, fault.New(fault.Internal, "the site profile %s cannot be read", path.Base(name)).Because(err)
		}
		var p Profile
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&p); err != nil {
			return nil, fault.New(fault.ConfigInvalid, "the site profile %s is no profile", path.Base(name)).Because(err)
		}
		if _, err := dec.Token(); err != io.EOF {
			return nil, fault.New(fault.ConfigInvalid, "the site profile %s holds more than one value", path.Base(name))
		}
		list = append(list, p)
	}
	return list, CheckProfiles(list)
}
