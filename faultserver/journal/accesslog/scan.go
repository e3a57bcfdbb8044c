package accesslog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// longestLine is the most that is read of one line; longer ones are skipped without being kept in memory.
const longestLine = 1 << 20

// errLong stands for a line that was skipped.
var errLong = fmt.Errorf("longer than %d KB", longestLine>>10)

// scanner gives the lines of a stream without their ends.
type scanner struct {
	in   *bufio.Reader
	long []byte // a line that did not fit the reader's buffer
	line int    // number of the line that next gave last, from 1
}

func newScanner(in *bufio.Reader) *scanner { return &scanner{in: in} }

// next returns the next line; it is good until the next call. errLong is a line that was skipped, io.EOF the end.
func (s *scanner) next() ([]byte, error) {
	text, err := s.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		text, err = s.rest(text)
	case len(text) > 0 && errors.Is(err, io.EOF):
		err = nil
	}
	if err != nil && !errors.Is(err, errLong) {
		return nil, err
	}
	s.line++
	if s.line == 1 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	return bytes.TrimRight(text, "\r\n"), err
}

// rest collects a line that is longer than the buffer.
func (s *scanner) rest(text []byte) ([]byte, error) {
	s.long = append(s.long[:0], text...)
	for {
		text, err := s.in.ReadSlice('\n')
		if len(s.long) <= longestLine {
			s.long = append(s.long, text...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case len(s.long) > longestLine:
			return nil, errLong
		default:
			return s.long, nil
		}
	}
}

// widestWindow bounds what a zstd stream may ask to be kept in memory: as much as zstd --long does.
const widestWindow = 128 << 20

// buffer is how much of a stream is read at once.
const buffer = 128 << 10

// unpack looks for the marks of gzip and zstd at the beginning, and reads what is inside. done frees what that takes.
func unpack(in io.Reader) (out *bufio.Reader, done func(), err error) {
	plain := bufio.NewReaderSize(in, buffer)
	head, _ := plain.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(plain)
		if err != nil {
			return nil, nil, fmt.Errorf("gzip: %w", err)
		}
		return bufio.NewReaderSize(z, buffer), func() {}, nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(plain, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(widestWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("zstd: %w", err)
		}
		return bufio.NewReaderSize(z, buffer), z.Close, nil
	default:
		return plain, func() {}, nil
	}
}
