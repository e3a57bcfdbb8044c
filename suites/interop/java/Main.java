import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/**
 * Runs a client, named first: one call with the method and the URL that follow, or without them a call for each line on standard
 * input, all side by side (retrygate verify --worker=shared).
 */
class Main {
    public static void main(String[] args) throws Exception {
        Method call = Class.forName(args[0]).getDeclaredMethod("call", String.class, String.class);
        if (args.length > 1) {
            Throwable wrong = run(call, args[1], args[2]);
            if (wrong != null) {
                wrong.printStackTrace();
            }
            System.exit(wrong == null ? 0 : 1);
        }
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String words = lines.readLine(); words != null; words = lines.readLine()) {
            String[] word = words.split(" ");
            new Thread(() -> line(call, word[0], word[1])).start();
        }
    }

    private static void line(Method call, String id, String address) {
        Throwable wrong = run(call, "GET", address + "/driver/status");
        System.out.println(wrong == null ? id : id + " " + wrong.toString().replace('\n', ' '));
    }

    /** What a call throws; null if it does not. */
    private static Throwable run(Method call, String method, String url) {
        try {
            call.invoke(null, method, url);
            return null;
        } catch (InvocationTargetException e) {
            return e.getCause();
        } catch (IllegalAccessException e) {
            return e;
        }
    }
}
