package clients

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

func init() { register("client-go", kubernetes) }

func kubernetes(ctx context.Context, h *http.Client, method, url string) error {
	config := &rest.Config{Host: url, ContentConfig: rest.ContentConfig{
		NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
	}}
	c, err := rest.UnversionedRESTClientForConfigAndClient(config, h)
	if err != nil {
		return err
	}
	r := c.Verb(method).AbsPath(path)
	if b := body(method); b != nil {
		r = r.Body(b)
	}
	return r.Do(ctx).Error()
}
