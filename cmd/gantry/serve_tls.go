package main

import (
	"crypto/tls"
	"os"
	"sync"
	"time"
)

// certificate is a certificate in files, which is read again when they change: the servers
// of people who renew theirs every few weeks go on.
type certificate struct {
	cert, key string

	mu     sync.Mutex
	loaded *tls.Certificate
	at     [2]time.Time // when the files that were read had changed
}

// get is [tls.Config.GetCertificate]. Files that cannot be used leave the certificate that
// there is, if there is one.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := [2]time.Time{changed(c.cert), changed(c.key)}
	if c.loaded != nil && at == c.at {
		return c.loaded, nil
	}
	fresh, err := tls.LoadX509KeyPair(c.cert, c.key)
	switch {
	case err == nil:
		c.loaded, c.at = &fresh, at
	case c.loaded == nil:
		return nil, err
	}
	return c.loaded, nil
}

func changed(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
