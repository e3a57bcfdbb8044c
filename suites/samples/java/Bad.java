import java.io.IOException;
import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/** Reports a driver's status to the backend, with retries as they are often written. */
class Bad {
    static class RetryInterceptor implements Interceptor {
        @Override
        public Response intercept(Chain chain) throws IOException {
            Response response = chain.proceed(chain.request());
            while (!response.isSuccessful()) {
                response.close();
                response = chain.proceed(chain.request());
            }
            return response;
        }
    }

    public static void main(String[] args) throws IOException {
        OkHttpClient client = new OkHttpClient.Builder().addInterceptor(new RetryInterceptor()).build();
        RequestBody status = RequestBody.create("{\"driver\":17,\"status\":\"free\"}", MediaType.get("application/json"));
        try (Response response = client.newCall(new Request.Builder().url(args[0]).post(status).build()).execute()) {
            System.out.println(response.body().string());
        }
    }
}
