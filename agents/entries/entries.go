// Package entries stores what happened in the turns of a session.
package entries
