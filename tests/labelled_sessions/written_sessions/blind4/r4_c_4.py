from written_sessions.vocabulary import *

clojure = Session(
    name="r4c_clojure_reads_then_announces",
    about="An investigation in Clojure that has only read so far; the last words say what is read next.",
    type="investigation",
    steps=(
        user("Sessions of logged in users vanish after exactly 30 minutes although we set :max-age to a day. Why?"),
        grep("max-age|wrap-session", "src/shop/server.clj:24:      (wrap-session {:store (redis-store conn)", "src/shop/server.clj:25:                     :cookie-attrs {:max-age 86400 :http-only true}})"),
        read("src/shop/session.clj", """(ns shop.session
  (:require [ring.middleware.session.store :refer [SessionStore]]
            [taoensso.carmine :as car]))

(deftype RedisStore [conn opts]
  SessionStore
  (read-session [_ k] (some->> k (car/get) (car/wcar conn)))
  (write-session [_ k data]
    (let [k (or k (str (random-uuid)))]
      (car/wcar conn (car/setex k (:ttl opts) data))
      k))
  (delete-session [_ k] (car/wcar conn (car/del k)) nil))

(defn redis-store
  ([conn] (redis-store conn {}))
  ([conn opts] (->RedisStore conn (merge defaults opts))))
"""),
        assistant("The cookie does live for a day, so the browser isn't the one forgetting. The store writes each session with its own `:ttl`, and `redis-store` is called without options in server.clj, which means `defaults` decides. Now let me find where `defaults` is defined and whether a read renews the key."),
    ),
)

maven_de = Session(
    name="r4c_maven_naechster_schritt_de",
    about="A Java refactoring stops half done with failing tests; the next step is announced in German.",
    type="development",
    branch="betrag",
    steps=(
        user("Ersetze in der Klasse Position das double für den Preis durch BigDecimal, überall wo es benutzt wird. mvn verify muss danach durchlaufen."),
        grep("getPreis|setPreis", "src/main/java/de/acme/Position.java:11:    public double getPreis() { return preis; }", "src/main/java/de/acme/Rechnung.java:30:        summe += position.getPreis() * position.getMenge();", "src/main/java/de/acme/web/PositionDto.java:17:        dto.preis = position.getPreis();"),
        read("src/main/java/de/acme/Position.java", """package de.acme;

public class Position {
    private final double preis;
    private final int menge;

    public Position(double preis, int menge) {
        this.preis = preis;
        this.menge = menge;
    }

    public double getPreis() { return preis; }
    public int getMenge() { return menge; }
}
"""),
        multi_edit("src/main/java/de/acme/Position.java",
                   ("package de.acme;\n", "package de.acme;\n\nimport java.math.BigDecimal;\n"),
                   ("    private final double preis;", "    private final BigDecimal preis;"),
                   ("public Position(double preis, int menge)", "public Position(BigDecimal preis, int menge)"),
                   ("public double getPreis()", "public BigDecimal getPreis()")),
        bash("sed -n 22,36p src/main/java/de/acme/Rechnung.java", """    public double summe() {
        double summe = 0;
        for (Position position : positionen) {
            summe += position.getPreis() * position.getMenge();
        }
        return summe;
    }"""),
        bash("python3 - <<'EOF'\np='src/main/java/de/acme/Rechnung.java'; s=open(p).read()\na=s.index('    public double summe()'); b=s.index('    }\\n', s.index('return summe'))+6\ns=s[:a]+'''    public BigDecimal summe() {\n        return positionen.stream()\n                .map(p -> p.getPreis().multiply(BigDecimal.valueOf(p.getMenge())))\n                .reduce(BigDecimal.ZERO, BigDecimal::add);\n    }\n'''+s[b:]\ns=s.replace('import java.util.List;','import java.math.BigDecimal;\\nimport java.util.List;')\nopen(p,'w').write(s)\nEOF\nmvn -q verify", """[ERROR] COMPILATION ERROR : 
[ERROR] /srv/project/src/main/java/de/acme/web/PositionDto.java:[17,42] incompatible types: java.math.BigDecimal cannot be converted to double
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.13.0:compile (default-compile) on project rechnung: Compilation failure
[ERROR] /srv/project/src/main/java/de/acme/web/PositionDto.java:[17,42] incompatible types: java.math.BigDecimal cannot be converted to double
[ERROR] -> [Help 1]""", 1),
        assistant("`Position` und `Rechnung` rechnen jetzt mit BigDecimal. Übrig ist das DTO, an dem die Übersetzung noch scheitert. Als Nächstes ziehe ich `PositionDto` samt Mapper nach, danach kommen die Tests dran und `mvn verify` läuft noch einmal."),
    ),
)

terraform = Session(
    name="r4c_terraform_no_call_start",
    about="The agent confirms what it was asked and says where it begins, without calling any tool.",
    type="operations",
    steps=(
        user("The bucket acme-logs was made by hand in the console. Bring it under terraform in infra/storage (import block, no recreate!), plan must show no changes except tags."),
        assistant("Makes sense: an `import` block keeps it reviewable, and any attribute the console set differently from the provider's defaults has to be written out so that the plan stays empty. First I'm going to read what infra/storage already declares and pull the live settings of acme-logs (versioning, encryption, lifecycle, public access block), then write the resources from that."),
    ),
)

crystal_ja = Session(
    name="r4c_crystal_tsugi_ja",
    about="Crystal: the code was changed and a spec fails; the agent says in Japanese what it does next and stops.",
    type="development",
    steps=(
        user("URL 短縮サービスで、同じ URL を二度登録したら同じコードを返すようにしてください。crystal spec も通してください。"),
        read("src/shortener.cr", """class Shortener
  def initialize(@store : Hash(String, String) = {} of String => String)
  end

  def add(url : String) : String
    code = Random::Secure.urlsafe_base64(4)
    @store[code] = url
    code
  end

  def find(code : String) : String?
    @store[code]?
  end
end
"""),
        edit("src/shortener.cr", "    code = Random", "    if known = @store.key_for?(url)\n      return known\n    end\n    code = Random"),
        bash("crystal spec", """..F

Failures:

  1) Shortener gives every registration its own code
     Failure/Error: shortener.add("https://a.example").should_not eq(shortener.add("https://a.example"))

       Expected: actual_value != "kQ3vZA"
            got: "kQ3vZA"

     # spec/shortener_spec.cr:18

Finished in 412 microseconds
3 examples, 1 failures, 0 errors, 0 pending

Failed examples:

crystal spec spec/shortener_spec.cr:18 # Shortener gives every registration its own code""", 1),
        assistant("同じ URL には登録済みのコードを返すようになりました。失敗している 1 件は、登録ごとに別のコードになることを前提にした古い仕様の spec です。続いて、この spec を新しい仕様に合わせて書き直し、もう一度 crystal spec を実行します。"),
    ),
)

swift = Session(
    name="r4c_swift_two_down",
    about="Swift: two of four steps are done and tested; the last line names the third in few words.",
    type="development",
    branch="async-cache",
    steps=(
        user("Migrate our image cache from completion handlers to async/await: MemoryCache, Downloader, DiskCache, ImageLoader, in this order, swift test after each."),
        todos("> MemoryCache", "- Downloader", "- DiskCache", "- ImageLoader"),
        read("Sources/ImageCache/MemoryCache.swift", """import Foundation

final class MemoryCache {
    private var images: [URL: Data] = [:]
    private let queue = DispatchQueue(label: "memory-cache")

    func image(for url: URL, completion: @escaping (Data?) -> Void) {
        queue.async { completion(self.images[url]) }
    }

    func store(_ data: Data, for url: URL) {
        queue.async { self.images[url] = data }
    }
}
"""),
        write("Sources/ImageCache/MemoryCache.swift", """import Foundation

actor MemoryCache {
    private var images: [URL: Data] = [:]

    func image(for url: URL) -> Data? {
        images[url]
    }

    func store(_ data: Data, for url: URL) {
        images[url] = data
    }
}
"""),
        bash("python3 scripts/wrap_callers.py MemoryCache && swift test 2>&1 | tail -4", "2 callers wrapped in Task {}\nTest Suite 'All tests' passed at 2026-03-02 09:01:33.120.\n\t Executed 21 tests, with 0 failures (0 unexpected) in 0.402 (0.409) seconds\n"),
        todos("x MemoryCache", "> Downloader", "- DiskCache", "- ImageLoader"),
        write("Sources/ImageCache/Downloader.swift", """import Foundation

struct Downloader {
    var session: URLSession = .shared

    func data(from url: URL) async throws -> Data {
        let (data, response) = try await session.data(from: url)
        guard let http = response as? HTTPURLResponse, (200..<300).contains(http.statusCode) else {
            throw URLError(.badServerResponse)
        }
        return data
    }
}
"""),
        bash("python3 scripts/wrap_callers.py Downloader && swift test 2>&1 | tail -4", "1 caller wrapped in Task {}\nTest Suite 'All tests' passed at 2026-03-02 09:02:10.871.\n\t Executed 21 tests, with 0 failures (0 unexpected) in 0.398 (0.405) seconds\n"),
        todos("x MemoryCache", "x Downloader", "> DiskCache", "- ImageLoader"),
        assistant("21 green again after the Downloader. Two down, on to DiskCache."),
    ),
)

docker_fr = Session(
    name="r4c_docker_je_relance_fr",
    about="A container restarts in a loop; the cause was found and the file corrected, the rebuild is announced in French.",
    type="operations",
    steps=(
        user("Le conteneur « api » redémarre en boucle depuis ce matin sur la machine de recette. Trouve pourquoi et remets-le debout."),
        bash("docker ps -a --filter name=api --format '{{.Names}} {{.Status}}'; docker logs --tail 6 api", """api Restarting (1) 12 seconds ago
node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/app/dist/main.js'
Node.js v20.18.1"""),
        bash("cat Dockerfile .dockerignore; git log --oneline -3 -- Dockerfile .dockerignore package.json tsconfig.json", """FROM node:20-slim AS build
WORKDIR /app
COPY package*.json ./
RUN npm ci
COPY . .
RUN npm run build

FROM node:20-slim
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
CMD ["node", "dist/main.js"]
node_modules
.git
b1150fe tsconfig: include the scripts folder
4420d1a node 20"""),
        bash("git show b1150fe -- tsconfig.json | grep '^[+-]'; docker run --rm --entrypoint ls api:latest -R dist | head -8", """--- a/tsconfig.json
+++ b/tsconfig.json
-  "include": ["src"]
+  "include": ["src", "scripts"]
dist:
scripts
src

dist/scripts:
seed.js

dist/src:
main.js"""),
        read("Dockerfile", """FROM node:20-slim AS build
WORKDIR /app
COPY package*.json ./
RUN npm ci
COPY . .
RUN npm run build

FROM node:20-slim
WORKDIR /app
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
CMD ["node", "dist/main.js"]
"""),
        edit("Dockerfile", 'CMD ["node", "dist/main.js"]', 'CMD ["node", "dist/src/main.js"]'),
        assistant("La cause est claire : depuis b1150fe, `scripts` est compilé lui aussi, TypeScript garde donc les deux dossiers et `main.js` se retrouve dans `dist/src`. J'ai corrigé le chemin dans le Dockerfile. Je reconstruis maintenant l'image, je relance le conteneur et je vérifie /healthz."),
    ),
)

ocaml = Session(
    name="r4c_ocaml_lexer_then_rerun",
    about="OCaml: after a first fix three tests still fail; the agent names the cause and what it is about to do.",
    type="development",
    steps=(
        user("dune test fails in the calculator since the rewrite of the lexer. Get it green."),
        bash("dune test", """File "test/dune", line 2, characters 7-16:
2 |  (name test_calc))
           ^^^^^^^^^
Testing `calc'.
This run has ID `8KQ2ZB1V'.

  [OK]          eval          0   addition.
  [FAIL]        eval          1   whitespace.
  [FAIL]        eval          2   negative literal.
  [FAIL]        eval          3   minus minus.
  [FAIL]        eval          4   negative in parentheses.

4 failures! in 0.003s. 5 tests run.""", 1),
        bash("cat bin/lexer.mll", """{
open Parser
exception Error of string
}

rule token = parse
  | ['0'-'9']+ as n { INT (int_of_string n) }
  | '+' { PLUS }
  | '-' ['0'-'9']+ { INT (int_of_string (String.sub (Lexing.lexeme lexbuf) 1 (String.length (Lexing.lexeme lexbuf) - 1))) }
  | '-' { MINUS }
  | '(' { LPAREN }
  | ')' { RPAREN }
  | eof { EOF }
  | _ as c { raise (Error (String.make 1 c)) }"""),
        edit("bin/lexer.mll", "rule token = parse\n", "rule token = parse\n  | [' ' '\\t'] { token lexbuf }\n"),
        bash("dune test", """File "test/dune", line 2, characters 7-16:
2 |  (name test_calc))
           ^^^^^^^^^
Testing `calc'.
This run has ID `M1X0T7RD'.

  [OK]          eval          0   addition.
  [OK]          eval          1   whitespace.
  [FAIL]        eval          2   negative literal.
  [FAIL]        eval          3   minus minus.
  [FAIL]        eval          4   negative in parentheses.

3 failures! in 0.003s. 5 tests run.""", 1),
        assistant("Whitespace is skipped again, one down. The other three share a cause: the `'-' ['0'-'9']+` rule strips the sign, and it also swallows the operator in `3-2`. Removing that rule from the lexer and giving the grammar a unary minus, then another `dune test`."),
    ),
)

SESSIONS = (clojure, maven_de, terraform, crystal_ja, swift, docker_fr, ocaml)
INTENDED = {one.name: "announced" for one in SESSIONS}
