package httpfront

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestGuessingIsSlowedDown(t *testing.T) {
	s := newSite(t, nil)
	s.passes(s.ask()) // of this address, before the guesses
	for i := range guessBurst {
		s.refused(s.ask(fmt.Sprintf("Authorization: Bearer guess%011d", i)), http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
	}
	a := s.ask("Authorization: Bearer guessguessguess0")
	s.refused(a, http.StatusTooManyRequests, "RATE_LIMITED")
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("%v", a.header)
	}
	// A right guess is not told from a wrong one.
	s.refused(s.ask("Authorization: Bearer "+readOnly), http.StatusTooManyRequests, "RATE_LIMITED")
	s.passes(s.ask()) // whoever called before is not locked out
	s.now = s.now.Add(guessEvery)
	s.refused(s.ask("Authorization: Bearer guessguessguess1"), http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
	s.refused(s.ask("Authorization: Bearer guessguessguess2"), http.StatusTooManyRequests, "RATE_LIMITED")
	s.now = s.now.Add(guessEvery)
	s.passes(s.ask("Authorization: Bearer " + readOnly))
}

func TestAddressesAreCountedApartAndForgotten(t *testing.T) {
	var g guesses
	now := time.Unix(1_800_000_000, 0)
	for range guessBurst + 5 {
		g.vet("10.0.0.1", "", false, now)
	}
	if g.vet("10.0.0.1", "ci", true, now) == 0 || g.vet("10.0.0.2", "ci", true, now) != 0 {
		t.Error("the guesses of one address are another's")
	}
	for i := range maxAddresses + 100 {
		g.vet(fmt.Sprint(i), "", false, now)
	}
	if len(g.by) > maxAddresses+1 {
		t.Errorf("%d addresses are remembered", len(g.by))
	}
	g.vet("later", "", false, now.Add(forgetAfter+time.Minute))
	if len(g.by) != 1 {
		t.Errorf("%d addresses are remembered", len(g.by))
	}
	for remote, want := range map[string]string{
		"10.1.2.3:80": "10.1.2.3", "[::ffff:10.1.2.3]:80": "10.1.2.3", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64", "odd": "odd",
	} {
		if got := address(remote); got != want {
			t.Errorf("%s is %s", remote, got)
		}
	}
}
