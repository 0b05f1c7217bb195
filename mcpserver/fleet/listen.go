package fleet

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// listen opens the first free port from the first one on.
func (f *Fleet) listen() ([]net.Listener, int, error) {
	for port := f.o.First; port < f.o.First+maxPorts && port <= 65535; port++ {
		listeners, err := listenOn(port)
		if err == nil {
			return listeners, port, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, syscall.EACCES) {
			return nil, 0, fmt.Errorf("no port can be opened: %w", err)
		}
	}
	return nil, 0, fmt.Errorf("no port is free from %d on", f.o.First)
}

// listenOn opens a port on loopback, by IPv4 and by IPv6 where there is that. A port that
// somebody has by either is taken.
func listenOn(port int) ([]net.Listener, error) {
	four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
	switch {
	case err == nil:
		return []net.Listener{four, six}, nil
	case errors.Is(err, syscall.EADDRINUSE):
		four.Close()
		return nil, err
	}
	return []net.Listener{four}, nil
}
