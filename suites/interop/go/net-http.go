package clients

import (
	"context"
	"net/http"
)

func init() { register("net-http", plain) }

func plain(ctx context.Context, h *http.Client, method, url string) error {
	_, err := once(ctx, h, method, url)
	return err
}
