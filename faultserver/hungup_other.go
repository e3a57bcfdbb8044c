//go:build !linux

package faultserver

import "net"

// peer is the other end of a connection, of which nothing is known here.
type peer struct{}

func peerOf(net.Conn) *peer { return &peer{} }

func (*peer) hungUp() bool { return false }

func (*peer) missing() bool { return false }
