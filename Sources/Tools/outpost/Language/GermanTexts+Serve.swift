extension GermanTexts {
    /// The texts of `outpost serve`.
    static let serve: [String: String] = [
        "Serve a SQLite database, a clone, or a model with its rows as an OData 4.01 service.":
            "Eine SQLite-Datenbank, einen Klon oder ein Modell mit seinen Zeilen als Dienst in OData 4.01 anbieten.",
        """
        Any SQLite database will do: entity sets, keys and navigation properties are found in its tables, primary \
        keys and foreign keys. The database is not altered, unless --track is given. A file beside it records \
        changes.
        """:
            """
        Jede SQLite-Datenbank ist geeignet: Entitätsmengen, Schlüssel und Navigationseigenschaften ergeben \
        sich aus ihren Tabellen, Primärschlüsseln und Fremdschlüsseln. Die Datenbank wird nicht verändert, \
        außer mit --track; Daten zum Erkennen von Änderungen stehen in einer Datei daneben.
        """,
        "A metadata document in XML or JSON is served from memory, with the rows of --rows at the start.":
            "Ein Metadatendokument in XML oder JSON wird aus dem Speicher bedient, anfangs mit den Zeilen von --rows.",
        """
        A clone asks for a token, unless another sign-in or --open is given. A browser opens the link that is \
        printed, which works once. Scripts take the token from DIR/serve.token. They send it as bearer token, or as \
        the password of any user: curl -u :"$(cat my-clone/serve.token)" URL
        """:
            """
        Ein Klon verlangt ein Token, außer mit einer anderen Anmeldung oder --open. Ein Browser öffnet den \
        ausgegebenen Link, der einmal gilt. Skripte nehmen das Token aus DIR/serve.token. Sie senden es als \
        Bearer-Token oder als Kennwort eines beliebigen Benutzers: curl -u :"$(cat my-clone/serve.token)" \
        URL
        """,
        "Clients of OData 2.0 find the same data below /v2/, as Atom and verbose JSON.":
            "Clients von OData 2.0 finden dieselben Daten unter /v2/, als Atom und ausführliches JSON.",
        """
        Supervisors ask /livez (the process answers), /readyz (the data can be read, and the service does not stop) \
        and /startupz. The address /health is the same as /readyz. The answer is 200 or 503.
        """:
            """
        Überwachungen fragen /livez (der Prozess antwortet), /readyz (die Daten sind lesbar, und der Dienst \
        endet nicht gerade) und /startupz; /health ist dasselbe wie /readyz. Die Antwort ist 200 oder 503.
        """,
        """
        Every option is also a key of the YAML file that --config names, and a variable: OUTPOST_SERVE_PORT for \
        --port. SIGHUP reads users, rights, certificate and that file again. If one of them is wrong, all stay \
        as they are.
        """:
            """
        Jede Option ist auch ein Schlüssel der YAML-Datei, die --config nennt, und eine Variable: \
        OUTPOST_SERVE_PORT für --port. SIGHUP liest Benutzer, Rechte, Zertifikat und diese Datei neu. Ist \
        eines davon falsch, bleiben alle, wie sie sind.
        """,
        "A SQLite database, the directory of a clone, or a metadata document.":
            "Eine SQLite-Datenbank, das Verzeichnis eines Klons oder ein Metadatendokument.",
        "The rows of the service that a metadata document describes, as JSON.":
            "Die Zeilen des Dienstes, den ein Metadatendokument beschreibt, als JSON.",
        "The port; 0 takes a free one.": "Der Port; 0 nimmt einen freien.",
        "The address to listen on.": "Die Adresse, an der Verbindungen angenommen werden.",
        "Refuse every change.": "Jede Änderung ablehnen.",
        "Serve a view as an entity set with this key.": "Eine Sicht als Entitätsmenge mit diesem Schlüssel anbieten.",
        """
        Install triggers in the database, so that changes by other programs are known at once; 'outpost untrack' \
        removes them.
        """:
            """
        Trigger in der Datenbank anlegen, damit Änderungen anderer Programme sofort bekannt sind; 'outpost \
        untrack' entfernt sie.
        """,
        "The maximum number of rows in a page; 0 for no limit.":
            "Die höchste Anzahl von Zeilen auf einer Seite; 0 für keine Grenze.",
        "Limit callers to the rights in this YAML file, by role, entity set and row.":
            "Nur die Rechte aus dieser YAML-Datei gewähren, nach Rolle, Entitätsmenge und Zeile.",
        "The URL under which clients see the service, behind a proxy that takes a part of the path away.":
            "Die URL, unter der Clients den Dienst sehen, hinter einem Proxy, der einen Teil des Pfads entfernt.",
        """
        Trust Forwarded and X-Forwarded-… fields; only behind a proxy that overwrites them. Their host must be a \
        name of the service.
        """:
            """
        Den Feldern Forwarded und X-Forwarded-… glauben; nur hinter einem Proxy, der sie überschreibt. Auf \
        den Host darin muss der Dienst antworten.
        """,
        "Send responses without compression, even to clients that accept it.":
            "Antworten ungepackt senden, auch wenn Clients mehr annehmen.",
        "Write a line for each request to standard error.":
            "Für jede Anfrage eine Zeile in die Fehlerausgabe schreiben.",
        "Read settings from this YAML file. Options and variables OUTPOST_SERVE_… come before it.":
            "Einstellungen aus dieser YAML-Datei lesen. Optionen und Variablen OUTPOST_SERVE_… haben Vorrang.",
        "Check all settings and files, and end without serving.":
            "Alle Einstellungen und Dateien prüfen und enden, ohne den Dienst zu starten.",
        "Print the addresses of the service as JSON.": "Die Adresse des Dienstes als JSON ausgeben.",
        "--port is a number from 0 to 65535.": "--port ist eine Zahl von 0 bis 65535.",
        "--page-size is 0 or more.": "--page-size ist 0 oder mehr.",
        "--open is for this machine alone: leave out --host %1, or leave out --open.":
            "--open gilt nur für diesen Rechner: --host %1 oder --open weglassen.",
        "--metrics behind a proxy would show them to every caller of the proxy: give --metrics-token FILE.":
            "--metrics zeigte die Metriken hinter einem Proxy jedem, der ihn erreicht: --metrics-token DATEI angeben.",
        "The settings are fine. They serve %1 of %2.": "Die Einstellungen sind in Ordnung: %1 aus %2.",
        "--base-url: %1": "--base-url: %1",
        "Serving %1 of %2 at %3": "Dienst bereit: %1 aus %2 unter %3",
        "Stop with Ctrl-C. Try: curl '%1'": "Beenden mit Strg-C. Zum Ausprobieren: curl '%1'",
        "Token: %1": "Token: %1",
        "The link works once. Stop with Ctrl-C. Try: curl -u :%1 '%2'":
            "Der Link gilt einmal. Beenden mit Strg-C. Zum Ausprobieren: curl -u :%1 '%2'",
        "Remove the triggers of 'outpost serve --track' from a database.":
            "Die Trigger von 'outpost serve --track' aus einer Datenbank entfernen.",
        """
        Removes the triggers and the table outpost_change, with which 'outpost serve FILE --track' notes every \
        change. Nothing else in the database changes. The file FILE-outpost stays: it holds row versions and \
        remembered requests. A server without --track compares rows instead.
        """:
            """
        Entfernt die Trigger und die Tabelle outpost_change, mit denen 'outpost serve FILE --track' jede \
        Änderung vermerkt. Sonst ändert sich nichts in der Datenbank. Die Datei FILE-outpost bleibt: sie \
        enthält Zeilenversionen und gemerkte Anfragen. Ein Dienst ohne --track vergleicht stattdessen \
        Zeilen.
        """,
        "The SQLite database.": "Die SQLite-Datenbank.",
        "%1 has no triggers of outpost.": "%1 hat keine Trigger von outpost.",
        "%1 %2 removed from %3.": "%1 %2 aus %3 entfernt.",
        "trigger": "Trigger",
        "triggers": "Trigger",
        "Keep the file of users that outpost serve --auth reads.":
            "Die Datei der Benutzer pflegen, die outpost serve --auth liest.",
        """
        The file has a line 'name:$scrypt$…' for each user. It contains a digest of the password (scrypt, in the PHC \
        string format), and never the password. Only its owner can read it. A running service reads it again on \
        SIGHUP: kill -HUP PID, or systemctl reload outpost-serve.
        """:
            """
        Die Datei hat für jeden Benutzer eine Zeile 'name:$scrypt$…': eine Prüfsumme des Kennworts (scrypt, \
        im String-Format von PHC), nie das Kennwort selbst. Nur ihr Besitzer kann sie lesen. Ein laufender \
        Dienst liest sie bei SIGHUP neu: kill -HUP PID, oder systemctl reload outpost-serve.
        """,
        "Add a user, or give a user a new password.":
            "Einen Benutzer hinzufügen, oder einem Benutzer ein neues Kennwort geben.",
        "The password is asked for. Without a terminal it is the first line of the input, or of --password-file.":
            "Das Kennwort wird erfragt. Ohne Terminal ist es die erste Zeile der Eingabe oder von --password-file.",
        """
        A check of the password takes about 50 ms and 16 MiB of memory (scrypt, N = 2^14, r = 8, p = 1). A running \
        service checks a password once. With --strong a check takes six times as long and 32 MiB (N = 2^15, r = 8, p \
        = 3). So does each guess with a stolen file.
        """:
            """
        Eine Prüfung des Kennworts braucht etwa 50 ms eines Prozessors und 16 MiB Speicher (scrypt, N = 2^14, \
        r = 8, p = 1), sodass eine erste Anmeldung schnell ist. Ein laufender Dienst prüft ein Kennwort \
        einmal. Mit --strong dauert eine Prüfung sechsmal so lange und braucht 32 MiB (N = 2^15, r = 8, \
        p = 3). Dasselbe gilt für jeden Rateversuch mit einer gestohlenen Datei.
        """,
        "Make each guess from a stolen file cost more, and the first sign-in slower.":
            "Jeden Rateversuch mit einer gestohlenen Datei verteuern; die erste Anmeldung wird langsamer.",
        "The file of users; it is made if it is not there.":
            "Die Datei der Benutzer; sie wird angelegt, wenn sie fehlt.",
        "The name of the user.": "Der Name des Benutzers.",
        "The file with the password.": "Die Datei mit dem Kennwort.",
        "The password cannot be taken: %1.": "Das Kennwort wird nicht angenommen: %1.",
        "%1 was added to %2.": "%1 wurde in %2 aufgenommen.",
        "%1 has a new password in %2.": "%1 hat in %2 ein neues Kennwort.",
        "Password of %1: ": "Kennwort von %1: ",
        "Once more: ": "Noch einmal: ",
        "The two passwords differ.": "Die beiden Kennwörter sind verschieden.",
        "There is no password in the input.": "In der Eingabe steht kein Kennwort.",
        "Give a file that holds it: --password-file FILE": "Eine Datei angeben, die es enthält: --password-file DATEI",
        "List the names of all users.": "Die Namen aller Benutzer auflisten.",
        "The file of users.": "Die Datei der Benutzer.",
        "Print the names as a JSON array.": "Die Namen als JSON-Array ausgeben.",
        "Remove a user.": "Einen Benutzer entfernen.",
        "%1 does not exist.": "%1 gibt es nicht.",
        "%1 has no user %2.": "%1 hat keinen Benutzer %2.",
        "See which there are: outpost users list %1": "Vorhandene zeigen: outpost users list %1",
        "%1 was removed from %2.": "%1 wurde aus %2 entfernt.",
        "Ask for a user of this file, which 'outpost users add' writes.":
            "Einen Benutzer aus dieser Datei verlangen, die 'outpost users add' schreibt.",
        "Ask for this user; the password comes from --password-file.":
            "Diesen Benutzer verlangen; das Kennwort kommt aus --password-file.",
        "The file with the password of --user.": "Die Datei mit dem Kennwort von --user.",
        "Accept bearer tokens that this OpenID Connect issuer signed.":
            "Bearer-Token annehmen, die dieser Aussteller von OpenID Connect signiert hat.",
        "The audience that the tokens of --token-issuer must have.":
            "Der Empfänger, für den die Token von --token-issuer sein müssen.",
        "The JSON Web Key Set of --token-issuer: a file, or its URL.":
            "Das JSON Web Key Set von --token-issuer: eine Datei oder ihre URL.",
        "Serve over TLS and HTTP/2 with this PEM certificate chain.":
            "Über TLS und HTTP/2 mit dieser PEM-Zertifikatskette anbieten.",
        "The PEM private key of --tls, when it is not in the same file.":
            "Der private PEM-Schlüssel von --tls, wenn er nicht in derselben Datei steht.",
        """
        Require client certificates that one of these PEM authorities signed, beside the sign-in of --auth, \
        --user or --token-issuer where one of these is given.
        """:
            """
        Clientzertifikate verlangen, die einer dieser PEM-Aussteller signiert hat, neben der Anmeldung von \
        --auth, --user oder --token-issuer.
        """,
        "Refuse client certificates that these lists (PEM or DER) revoke; read again when the file changes.":
            """
        Clientzertifikate ablehnen, die diese Listen (PEM oder DER) widerrufen; sie werden bei Änderung der \
        Datei neu gelesen.
        """,
        "Admit callers with a client certificate or a sign-in. Without it, --tls-clients and --auth demand both.":
            """
        Einlassen, wer ein Clientzertifikat hat oder sich anmeldet; sonst verlangen --tls-clients und --auth \
        beides.
        """,
        "Let scripts of this origin use the service; * for any.":
            "Skripte dieser Herkunft den Dienst benutzen lassen; * für jede.",
        "Require a token with each change, fetched by X-CSRF-Token: Fetch.":
            "Mit jeder Änderung ein Token verlangen, das mit X-CSRF-Token: Fetch geholt wird.",
        "--tls-key needs --tls.": "--tls-key verlangt --tls.",
        "--tls-clients needs --tls.": "--tls-clients verlangt --tls.",
        "--tls-crl needs --tls-clients.": "--tls-crl verlangt --tls-clients.",
        "--allow-either needs --tls-clients, and --auth, --user or --token-issuer.":
            "--allow-either verlangt --tls-clients und --auth, --user oder --token-issuer.",
        "--user and --password-file go together.": "--user und --password-file gehören zusammen.",
        "--token-issuer, --token-audience and --token-keys go together.":
            "--token-issuer, --token-audience und --token-keys gehören zusammen.",
        "--cors: '%1' is no origin, such as https://app.example or http://localhost:3000.":
            "--cors: '%1' ist keine Herkunft wie https://app.example oder http://localhost:3000.",
        "--cors * allows all origins: name no others beside it.":
            "--cors * erlaubt alle Herkünfte: keine anderen daneben nennen.",
        "%1 names no user.": "%1 nennt keinen Benutzer.",
        "Add one with: outpost users add %1 NAME": "Einen hinzufügen mit: outpost users add %1 NAME",
        "%1 is no JSON Web Key Set.": "%1 ist kein JSON Web Key Set.",
        """
        Answer to this name, too. IP addresses, localhost, this machine's name and the host of --base-url need \
        no mention; other names are refused with 421.
        """:
            """
        Auch auf diesen Namen antworten. IP-Adressen, localhost, der Name dieses Rechners und der Host von \
        --base-url gelten ohne Angabe; andere Namen werden mit 421 abgelehnt.
        """,
        "The maximum number of concurrent requests of one address; 0 for no limit.":
            "Die höchste Anzahl gleichzeitiger Anfragen einer Adresse; 0 für keine Grenze.",
        "The maximum number of requests of one address in a minute, without further pages; 0 for no limit.":
            "Die höchste Anzahl von Anfragen einer Adresse in einer Minute, ohne weitere Seiten; 0 für keine Grenze.",
        "Serve a clone without its token, to every user and program of this machine; on loopback only.":
            """
        Einen Klon ohne sein Token jedem Benutzer und Programm dieses Rechners anbieten; nur auf der lokalen \
        Schnittstelle.
        """,
        "Print the token of a served clone.": "Das Token eines angebotenen Klons ausgeben.",
        "--max-requests-at-once is 0 or more.": "--max-requests-at-once ist 0 oder mehr.",
        "--max-requests-per-minute is 0 or more.": "--max-requests-per-minute ist 0 oder mehr.",
        "--host-name: '%1' is no host name, such as api.example, without a port.":
            "--host-name: '%1' ist kein Hostname wie api.example, ohne Port.",
        "--open needs no token: leave out --print-token.": "--open braucht kein Token: --print-token weglassen.",
        "The maximum processor time of a request, without its transfer; 0 for no limit.":
            "Die höchste Rechenzeit einer Anfrage, ohne ihre Übertragung; 0 für keine Grenze.",
        "The maximum number of rows of a response over all levels of $expand; 0 for no limit.":
            "Die höchste Anzahl von Zeilen einer Antwort über alle Ebenen von $expand; 0 für keine Grenze.",
        "The maximum memory of a response; 0 for no limit.":
            "Der höchste Speicherbedarf einer Antwort zur selben Zeit; 0 für keine Grenze.",
        "How long requests may go on after Ctrl-C or SIGTERM before the process ends.":
            "So lange dürfen Anfragen nach Strg-C oder SIGTERM weiterlaufen, bis der Prozess endet.",
        "%1 is a number from 0 to 1000000000.": "%1 ist eine Zahl von 0 bis 1000000000.",
        "--drain-time is 1 to 86400 seconds.": "--drain-time ist 1 bis 86400 Sekunden.",
        """
        Give metrics at /metrics in the format of Prometheus, to programs of this machine unless --metrics-token \
        is given.
        """:
            """
        Metriken unter /metrics im Format von Prometheus anbieten, für Programme dieses Rechners, außer mit \
        --metrics-token.
        """,
        "Give metrics at /metrics to every caller that sends the token in this file as bearer token.":
            "Metriken unter /metrics jedem anbieten, der das Token in dieser Datei als Bearer-Token sendet.",
        "The metrics cannot be at /metrics, because an entity set has that name.":
            "Die Metriken können nicht unter /metrics stehen, weil eine Entitätsmenge so heißt.",
        "Leave out --metrics and --metrics-token.": "--metrics und --metrics-token weglassen.",
        "The token in %1 is not usable: it has fewer than %2 characters, or others than visible ones of ASCII.":
            "Das Token in %1 ist nicht brauchbar: es hat weniger als %2 Zeichen, oder andere als sichtbare aus ASCII.",
        "Make one: openssl rand -hex 32 > %1": "Eines anlegen: openssl rand -hex 32 > %1",
        "%1 is not there any more.": "%1 ist nicht mehr da.",
        "%1 is another file than at the start.": "%1 ist eine andere Datei als beim Start.",
        "%1 is empty: nobody has any right.": "%1 ist leer: niemand hat ein Recht.",
        "Add a list of permissions.": "Eine Liste von Berechtigungen hinzufügen.",
        "The file": "Die Datei",
        "permissions is a list.": "permissions ist eine Liste.",
        "The file has no permissions: nobody has any right.": "Die Datei hat kein permissions: niemand hat ein Recht.",
        "Did you mean %1?": "Gemeint: %1?",
        " or ": " oder ",
        "The members of '%1' are not listed: every caller, or every signed-in caller, has it.":
            "Die Mitglieder von '%1' werden nicht aufgelistet: jeder Aufrufer, oder jeder angemeldete, hat sie.",
        "%1 is a list of members.": "%1 ist eine Liste von Mitgliedern.",
        "A member": "Ein Mitglied",
        "A member has a name.": "Ein Mitglied hat einen Namen.",
        "A permission": "Eine Berechtigung",
        "The filter cannot be read: %1": "Der Filter ist nicht lesbar: %1",
        "A verb": "Ein Verb",
        "There is no verb '%1'.": "Es gibt kein Verb '%1'.",
        "The verbs are %1 and all.": "Die Verben sind %1 und all.",
        "A permission has a role, a set and verbs.": "Eine Berechtigung hat eine Rolle, eine Menge und Verben.",
        "The environment has the variable %1, which is no setting of 'outpost serve'.":
            "In der Umgebung steht die Variable %1, die keine Einstellung von 'outpost serve' ist.",
        "The variable %1 is %2.": "Die Variable %1 ist %2.",
        "true or false": "true oder false",
        "a number from %1 to %2": "eine Zahl von %1 bis %2",
        "The configuration": "Die Konfiguration",
        "Give a SQLite database or a clone's directory.":
            "Eine SQLite-Datenbank oder das Verzeichnis eines Klons angeben.",
        "--rights goes with a database or a metadata document.":
            "--rights gehört zu einer Datenbank oder einem Metadatendokument.",
        "A clone belongs to one user: serve it to that user alone.":
            "Ein Klon gehört einem Benutzer: ihn nur diesem anbieten.",
        "--key is VIEW=COLUMN, not '%1'.": "--key ist SICHT=SPALTE, nicht '%1'.",
        "--rows goes with a metadata document.": "--rows gehört zu einem Metadatendokument.",
        "--open goes with a clone.": "--open gehört zu einem Klon.",
        "--print-token goes with a clone.": "--print-token gehört zu einem Klon.",
        "--key goes with a database.": "--key gehört zu einer Datenbank.",
        "--track goes with a database.": "--track gehört zu einer Datenbank.",
        "%1 cannot be read as text.": "%1 ist nicht als Text lesbar.",
        "%1 stands there twice": "%1 steht dort zweimal",
        "the key %1": "der Schlüssel %1",
        "a key": "ein Schlüssel",
        "it is no YAML": "es ist kein YAML",
        "%1, line %2, column %3": "%1, Zeile %2, Spalte %3",
        "%1 has keys and values, as in 'key: value'.": "%1 hat Schlüssel und Werte, wie in 'key: value'.",
        "A key is a text.": "Ein Schlüssel ist ein Text.",
        "%1 has no key '%2'.": "%1 hat keinen Schlüssel '%2'.",
        "The keys are %1.": "Die Schlüssel sind %1.",
        "%1 is a text.": "%1 ist ein Text.",
        "%1 is a number from %2 to %3.": "%1 ist eine Zahl von %2 bis %3.",
        "%1 is true or false.": "%1 ist true oder false.",
        "read and change": "lesen und ändern",
        "read": "lesen",
        """
        everybody who reaches %1 can %2 everything. Ask for a sign-in with --auth FILE, --token-issuer or \
        --tls-clients, or listen on this machine only.
        """:
            """
        jeder, der %1 erreicht, kann alles %2. Mit --auth DATEI, --token-issuer oder --tls-clients eine \
        Anmeldung verlangen, oder nur auf diesem Rechner anbieten.
        """,
        "every user and program of this machine can %1 the clone: it is served with --open.":
            "jeder Benutzer und jedes Programm dieses Rechners kann den Klon %1: er wird mit --open angeboten.",
        "passwords and tokens travel in plain text: whoever is on the way reads them. Serve over TLS with --tls FILE.":
            """
        Kennwörter und Token gehen unverschlüsselt über das Netz: jeder auf dem Weg liest sie. Mit --tls \
        DATEI über TLS anbieten.
        """,
        "The requests did not end in time; the process ends without them.":
            "Die Anfragen endeten nicht rechtzeitig; der Prozess endet ohne sie.",
        "%1, line %2": "%1, Zeile %2",
        "%1: a name, a colon and a scrypt digest are expected.":
            "%1: erwartet wird ein Name, ein Doppelpunkt und eine scrypt-Prüfsumme.",
        "Write the line with: outpost users add %1 NAME": "Die Zeile schreiben mit: outpost users add %1 NAME",
        "%1: %2 has a line already.": "%1: für %2 gibt es schon eine Zeile.",
        "Remove one of the two.": "Eine der beiden entfernen.",
        "Write the line anew with: outpost users add %1 %2": "Die Zeile neu schreiben mit: outpost users add %1 %2",
        "%1: %2 has no password.": "%1: %2 hat kein Kennwort.",
        "a digest of another kind": "eine andere Art von Prüfsumme",
        "in plain text": "unverschlüsselt",
        "%1: the password of %2 is %3, and only scrypt digests are read.":
            "%1: das Kennwort von %2 ist %3, und nur scrypt-Prüfsummen werden gelesen.",
        "%1 is no file.": "%1 ist keine Datei.",
        "'%1' is no name of a user.": "'%1' ist kein Name eines Benutzers.",
        "A name has 1 to %1 bytes, no colon, no control character, and no # at its start.":
            "Ein Name hat 1 bis %1 Bytes, keinen Doppelpunkt, kein Steuerzeichen und kein # am Anfang.",
    ]
}
