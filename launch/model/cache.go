package model

import (
	"encoding/json"
	"os"

	"github.com/gantry-run/gantry/artifacts"
)

// cache keeps answers by the key of their request. The nil cache keeps nothing.
type cache struct{ folder *artifacts.Folder }

func openCache(dir string) (*cache, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	folder, err := artifacts.Open(dir)
	if err != nil {
		return nil, err
	}
	return &cache{folder}, nil
}

func (c *cache) close() error {
	if c == nil {
		return nil
	}
	return c.folder.Close()
}

// kept is an answer with a hash that tells whether its file is whole.
type kept struct {
	Answer Answer `json:"answer"`
	SHA256 string `json:"text_sha256"`
}

func place(key string) string { return key[:2] + "/" + key + ".json" }

// get returns the answer to a request. A file that is not what was written is no answer.
func (c *cache) get(key string) (Answer, bool) {
	if c == nil {
		return Answer{}, false
	}
	raw, err := c.folder.Read(place(key))
	var k kept
	if err != nil || json.Unmarshal(raw, &k) != nil || k.Answer.Key != key || hash(k.Answer.Text) != k.SHA256 {
		return Answer{}, false
	}
	return k.Answer, true
}

func (c *cache) put(a Answer) error {
	if c == nil {
		return nil
	}
	raw, err := json.MarshalIndent(kept{a, hash(a.Text)}, "", "  ")
	if err != nil {
		return err
	}
	_, err = c.folder.Write(place(a.Key), append(raw, '\n'))
	return err
}
