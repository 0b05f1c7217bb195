package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// On SIGTERM calls that were accepted are answered, streams end, the exit code is 0 and the
// run goes on in a worker.
func TestServeEndsInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	local := w.serve(stateful)
	done := local.start(nil)
	w.rest(done)
	local.end()
	reached, let := w.holdGit()
	h := w.serveHTTP("--toolsets", "launch", "--rate-limit", "0")
	ann := h.as(tokenOfAnn, "/mcp")
	under := ann.startRun()
	reached()

	stream, err := h.web.Do(ann.post(t.Context(), "subscriptions/listen", map[string]any{
		"notifications": map[string]any{"resourceSubscriptions": []string{"resource://run/" + under + "/snapshot.json"}},
	}))
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", stream, err)
	}
	defer stream.Body.Close()
	type got struct {
		answer
		err error
	}
	const calls = 20
	answers := make(chan got, calls)
	for range calls {
		r := ann.post(t.Context(), "tools/call", map[string]any{"name": "launch_validate", "arguments": args{"run_id": done}})
		go func() {
			a, _, err := ann.send(r)
			answers <- got{a, err}
		}()
	}
	first := <-answers // by then most are accepted
	if code := h.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d: %s", code, h.err)
	}
	refused := 0
	for i := range calls {
		a := first
		if i > 0 {
			a = <-answers
		}
		switch {
		case a.err != nil && strings.Contains(a.err.Error(), "refused"): // it came when nobody listened any more
			refused++
		case a.err != nil:
			t.Errorf("a call has no answer: %v", a.err)
		case a.Error != nil && !a.Error.Data.Retryable:
			t.Errorf("a call may not be repeated: %s", a.Error)
		}
	}
	if refused == calls {
		t.Error("no call was accepted")
	}
	let()
	if v := w.rest(under); v.Failure != nil {
		t.Errorf("%+v", v.Failure)
	}
	if len(h.workers()) != 1 {
		t.Errorf("workers: %v", h.workers())
	}
	if log := h.err.String(); strings.Contains(log, "panic") {
		t.Errorf("%s", log)
	}
}

// keyPair writes a certificate for 127.0.0.1 with a serial number.
func keyPair(t *testing.T, dir string, serial int64) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "gantry"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: pkcs}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1_700_000_000+serial, 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// With a certificate the server speaks TLS and nothing else, on any address, and takes a new
// certificate without a restart. Tokens come from a file, which is read again too.
func TestServeSpeaksTLS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	cert, key := keyPair(t, dir, 1)
	file := filepath.Join(dir, "tokens")
	write(t, file, "ann:"+tokenOfAnn+"\n")
	h := w.startHTTP(w.env, "--addr", "0.0.0.0:0", "--tls-cert", cert, "--tls-key", key, "--tokens", file, "--toolsets", "tasks", "--allowed-hosts", "gantry.example")
	h.ready()
	port := h.addr[strings.LastIndex(h.addr, ":"):]
	h.addr = "127.0.0.1" + port
	ask := func(token, host string) (status int, serial string) {
		r := h.as(token, "/mcp").post(t.Context(), "tools/list", nil)
		r.URL.Scheme, r.Host = "https", host
		h.web.CloseIdleConnections()
		res, err := h.web.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.ProtoMajor != 1 || res.TLS.Version < tls.VersionTLS12 {
			t.Errorf("%s, TLS %x", res.Proto, res.TLS.Version)
		}
		return res.StatusCode, fmt.Sprint(res.TLS.PeerCertificates[0].SerialNumber)
	}
	if status, serial := ask(tokenOfAnn, h.addr); status != http.StatusOK || serial != "1" {
		t.Errorf("%d, certificate %s", status, serial)
	}
	if status, _ := ask(tokenOfAnn, "gantry.example"); status != http.StatusOK {
		t.Errorf("a host that is allowed: %d", status)
	}
	if status, _ := ask(tokenOfAnn, "other.example"); status != http.StatusForbidden {
		t.Errorf("a host that is not: %d", status)
	}
	if plain := h.raw("GET /healthz HTTP/1.1\r\nHost: " + h.addr + "\r\n\r\n"); strings.Contains(plain, "200 OK") {
		t.Errorf("without TLS: %s", plain)
	}
	keyPair(t, dir, 2)
	write(t, file, "bob:"+tokenOfBob+"-and-longer\nann:"+tokenOfBob+"\n")
	if status, serial := ask(tokenOfBob, h.addr); status != http.StatusOK || serial != "2" {
		t.Errorf("after both changed: %d, certificate %s", status, serial)
	}
	if status, _ := ask(tokenOfAnn, h.addr); status != http.StatusUnauthorized {
		t.Errorf("a token that was taken away: %d", status)
	}
}
