package gates

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gantry-run/gantry/launch/dossier"
	"github.com/gantry-run/gantry/launch/page"
)

// The bounds of the external links gate.
const (
	linkTimeout   = 10 * time.Second // of one address
	linksAtOnce   = 8
	maxRedirects  = 5
	maxLinksAsked = 1000
)

// externalLinksGate asks the addresses outside of the site that changed pages
// link to. It is off unless the run_config turns it on, for it is the one gate
// whose outcome the network decides, and it asks only hosts that the server's
// configuration lists: a page comes from a repository, and must not make the
// server call whatever that names.
func externalLinksGate() Gate {
	return Gate{
		Name: "external_links", Title: "links out of the site are answered",
		Codes:   []string{LinkUnreachable, LinkTimeout},
		Timeout: within(300*time.Second, 600*time.Second), Run: runExternalLinks,
	}
}

func runExternalLinks(ctx context.Context, in *Input) (Outcome, error) {
	if e := in.Config.ExternalLinks; e == nil || !e.Check {
		return Outcome{Skipped: "external_links.check is not on in the run's configuration"}, nil
	}
	found, err := outwardLinks(ctx, in)
	if err != nil {
		return Outcome{}, err
	}
	var ask []string
	unlisted := 0
	for _, address := range found.addresses {
		if in.Reach == nil || in.Reach(address) != nil || len(ask) >= maxLinksAsked {
			unlisted++
			continue
		}
		ask = append(ask, address)
	}
	if len(ask) == 0 && unlisted > 0 {
		return Outcome{Skipped: fmt.Sprintf("none of the hosts of %d addresses is among launch.hosts of the server's configuration", unlisted)}, nil
	}
	answers := askAll(ctx, in, ask)
	out := Outcome{Checked: len(ask)}
	if unlisted > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("not asked: %d addresses of hosts that launch.hosts does not list", unlisted))
	}
	severity := in.byProfile(dossier.Warning, dossier.Error, dossier.Error)
	for i, address := range ask {
		if answers[i].why == "" {
			continue
		}
		for _, at := range found.places[address] {
			out.Issues = append(out.Issues, issue("external_links", answers[i].code, severity, at.Path, at.Line,
				"Correct the address, or remove the link and keep its text.", "%s: %s", answers[i].why, quote(address)))
		}
	}
	return out, ctx.Err()
}

// outward are the addresses that pages link to, sorted, and where.
type outward struct {
	addresses []string
	places    map[string][]dossier.Location
}

func outwardLinks(ctx context.Context, in *Input) (outward, error) {
	found := outward{places: map[string][]dossier.Location{}}
	index := &siteIndex{in: in}
	_, err := in.changedPages(ctx, func(p *page.Page) {
		for _, l := range p.Links {
			address, ok := outside(index, l)
			if !ok {
				continue
			}
			if found.places[address] == nil {
				found.addresses = append(found.addresses, address)
			}
			found.places[address] = append(found.places[address], dossier.Location{Path: p.Path, Line: l.Line})
		}
	}, nil)
	slices.Sort(found.addresses)
	return found, err
}

// outside returns the address of a link that leaves the site, without its anchor.
func outside(x *siteIndex, l page.Link) (string, bool) {
	if l.IsRef || strings.Contains(l.Dest, "{{") || token.MatchString(l.Dest) {
		return "", false
	}
	u, err := url.Parse(l.Dest)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false
	}
	if _, own := x.hostPath(u); own {
		return "", false
	}
	u.Fragment = ""
	return u.String(), true
}

// answer says what is wrong with an address; the zero value says nothing is.
type answer struct{ code, why string }

func askAll(ctx context.Context, in *Input, addresses []string) []answer {
	limit := linkTimeout
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2) // so that it is the address that took too long, not the gate
	}
	client := &http.Client{
		Timeout: limit, Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return errors.New("too many redirects")
			}
			if in.Reach(r.URL.String()) != nil {
				return http.ErrUseLastResponse // it leads on to where we do not look: it answered
			}
			return nil
		},
	}
	answers := make([]answer, len(addresses))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(linksAtOnce, len(addresses)) {
		workers.Go(func() {
			for i := range next {
				answers[i] = askOne(ctx, client, addresses[i])
			}
		})
	}
	for i := range addresses {
		next <- i
	}
	close(next)
	workers.Wait()
	return answers
}

// askOne sends HEAD, and GET where that is not answered as it should be.
func askOne(ctx context.Context, client *http.Client, address string) (a answer) {
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		a = askBy(ctx, client, method, address)
		if a == (answer{}) || a.code == LinkTimeout {
			return a
		}
	}
	return a
}

func askBy(ctx context.Context, client *http.Client, method, address string) answer {
	request, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return answer{LinkUnreachable, "the address cannot be asked"}
	}
	request.Header.Set("User-Agent", "gantry")
	response, err := client.Do(request)
	var slow net.Error
	switch {
	case errors.As(err, &slow) && slow.Timeout():
		return answer{LinkTimeout, "the address does not answer in time"}
	case err != nil:
		return answer{LinkUnreachable, "the address cannot be reached"}
	}
	_, _ = io.CopyN(io.Discard, response.Body, 1<<10) // what it says does not matter
	_ = response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 399 {
		return answer{LinkUnreachable, fmt.Sprintf("the address answers %d", response.StatusCode)}
	}
	return answer{}
}
