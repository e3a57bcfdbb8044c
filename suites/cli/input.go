package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// readInput reads a file that people write, - is stdin, with an error that names it once and says what is wrong.
func (w *world) readInput(what, file string) ([]byte, error) {
	data, err := until(w.ctx, func() ([]byte, error) {
		in, err := w.open(file)
		if err != nil {
			return nil, err
		}
		defer in.Close()
		return io.ReadAll(io.LimitReader(in, strict.MaxBytes+1))
	})
	switch {
	case err != nil && w.ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", what, file, bare(err))
	case len(data) > strict.MaxBytes:
		return nil, fmt.Errorf("%s %s: is longer than %d bytes, which is the most that is read", what, file, strict.MaxBytes)
	case strings.TrimSpace(string(data)) == "":
		return nil, fmt.Errorf("%s %s: the file is empty", what, file)
	}
	return data, nil
}

// open opens a file or a pipe, - is stdin. Devices are refused: most never end.
func (w *world) open(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(w.stdin), nil
	}
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("is a directory")
	case !info.Mode().IsRegular() && info.Mode()&os.ModeNamedPipe == 0:
		return nil, errors.New("is no file; stdin is -")
	}
	return os.Open(file)
}

// until gives up waiting for what may open or read a pipe when ctx ends.
func until[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
