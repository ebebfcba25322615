extension GermanTexts {
    /// The sentences of the server and its state, which are English in the libraries.
    static let library: [String: String] = [
        "%1 and %2": "%1 und %2",
        "%1 cannot be restored: %2": "%1 kann nicht zurückgespielt werden: %2",
        "%1 cannot be used: %2": "%1 ist nicht verwendbar: %2",
        "%1 exceeds the limit of %2.": "%1 überschreitet die Grenze von %2.",
        "%1 has keys and values, as in 'key: value'.": "%1 hat Schlüssel und Werte, wie in 'key: value'.",
        "%1 has no key '%2'. %3": "%1 hat keinen Schlüssel '%2'. %3",
        "%1 is HOST:PORT with a port from 0 to 65535, or empty for no listener.":
            "%1 ist HOST:PORT mit einem Port von 0 bis 65535, oder leer für keine Adresse.",
        "%1 is HOST:PORT, or empty for no listener.": "%1 ist HOST:PORT, oder leer für keine Adresse.",
        "%1 is a URL that begins with %2://.": "%1 ist eine URL, die mit %2:// beginnt.",
        "%1 is a duration such as 30s, 15min, 8h or 1d.": "%1 ist eine Dauer wie 30s, 15min, 8h oder 1d.",
        "%1 is a number from %2 to %3.": "%1 ist eine Zahl von %2 bis %3.",
        "%1 is a number of days from 0 to 36500.": "%1 ist eine Zahl von Tagen von 0 bis 36500.",
        "%1 is a path that begins with a slash.": "%1 ist ein Pfad, der mit einem Schrägstrich beginnt.",
        "%1 is a reference: file:PATH, env:NAME or secret:NAME. A secret never stands here.":
            "%1 ist ein Verweis: file:PATH, env:NAME oder secret:NAME. Ein Geheimnis steht nie hier.",
        "%1 is a size such as 32MiB, at most 1024GiB.": "%1 ist eine Größe wie 32MiB, höchstens 1024GiB.",
        "%1 is a text.": "%1 ist ein Text.",
        "%1 is one of %2.": "%1 ist eines von %2.",
        "%1 is true or false.": "%1 ist true oder false.",
        "%1 needs the key '%2'.": "%1 braucht den Schlüssel '%2'.",
        "%1 or %2": "%1 oder %2",
        "%1/%2 cannot be written": "%1/%2 kann nicht geschrieben werden",
        "%1/%2 reads the back end for each user. With visibility partitioned, one read serves all users of a part.":
            """
        %1/%2 liest das Backend für jeden Benutzer. Mit visibility: partitioned dient ein Abruf allen Benutzern \
        eines Teils.
        """,
        "'%1' is no name in %2: %3": "'%1' ist kein Name in %2: %3",
        "'%1' is no name: %2": "'%1' ist kein Name: %2",
        "A defining query belongs to the endpoint before it.": "Eine definierende Abfrage gehört zum Endpunkt davor.",
        "A key of %1 is no text.": "Ein Schlüssel von %1 ist kein Text.",
        "A line is '[section]' or 'key=value'.": "Eine Zeile ist '[section]' oder 'key=value'.",
        """
        A listener that other machines reach needs TLS: set server.tls.mode to own, or to behind-proxy with \
        server.trusted_hops.
        """:
            """
        Eine Adresse, die andere Rechner erreichen, braucht TLS: server.tls.mode auf own setzen, oder auf \
        behind-proxy mit server.trusted_hops.
        """,
        "A security configuration of the kind %1 needs %2.": "Eine Sicherheitskonfiguration der Art %1 braucht %2.",
        "An alias is not used in this file.": "Ein Alias wird in dieser Datei nicht verwendet.",
        "An application has at most 200 defining queries.": "Eine Anwendung hat höchstens 200 definierende Abfragen.",
        "COPY is not a statement; use copy(_:_:)": "COPY ist keine Anweisung; copy(_:_:) verwenden",
        "Certificates need server.tls.client_ca.": "Zertifikate brauchen server.tls.client_ca.",
        "Devices can sign in.": "Geräte können sich anmelden.",
        "Did you mean %1?": "Gemeint: %1?",
        "Entry %1 of the audit is missing or was changed.":
            "Der Eintrag %1 des Prüfprotokolls fehlt oder wurde geändert.",
        "Line %1 of the file with the keys cannot be read.":
            "Die Zeile %1 der Datei mit den Schlüsseln ist nicht lesbar.",
        "More than %1 statements wait for PostgreSQL.": "Mehr als %1 Anweisungen warten auf PostgreSQL.",
        "Name the credentials of two users.": "Die Anmeldedaten von zwei Benutzern angeben.",
        "No device can register: there is no security configuration.":
            "Kein Gerät kann sich registrieren: es gibt keine Sicherheitskonfiguration.",
        "Only users can read the metadata of this back end.":
            "Nur Benutzer können die Metadaten dieses Backends lesen.",
        "PostgreSQL cannot be reached: %1": "PostgreSQL ist nicht erreichbar: %1",
        "PostgreSQL did not answer in time.": "PostgreSQL hat nicht rechtzeitig geantwortet.",
        "PostgreSQL is not used correctly: %1": "PostgreSQL wird falsch verwendet: %1",
        "PostgreSQL refused the statement (%1): %2": "PostgreSQL hat die Anweisung abgelehnt (%1): %2",
        "SQLite error %1": "SQLite-Fehler %1",
        "SQLite reports damage": "SQLite meldet einen Schaden",
        "The %1 '%2' exists already.": "Schon vorhanden: %1 '%2'.",
        "The %1 '%2' was changed by somebody else.": "Von jemand anderem geändert: %1 '%2'.",
        "The URL of the destination begins with https:// or http://.":
            "Die URL des Ziels beginnt mit https:// oder http://.",
        "The audit cannot be read: %1": "Das Prüfprotokoll kann nicht gelesen werden: %1",
        "The audit is intact up to entry %1.": "Das Prüfprotokoll ist bis zum Eintrag %1 unversehrt.",
        "The back end answers with metadata of OData %1.": "Das Backend antwortet mit Metadaten von OData %1.",
        "The back end cannot be used: %1": "Das Backend ist nicht verwendbar: %1",
        "The certificate request has %1 bytes. The limit is %2.":
            "Der Zertifikatsantrag hat %1 Bytes. Die Grenze ist %2.",
        "The certificate request is no PKCS#10 in DER or PEM.":
            "Der Zertifikatsantrag ist kein PKCS#10 in DER oder PEM.",
        "The client for PostgreSQL is closed.": "Der Zugang zu PostgreSQL ist geschlossen.",
        "The connection to PostgreSQL was lost: %1": "Die Verbindung zu PostgreSQL ist abgebrochen: %1",
        "The defining query '%1' is new, and reads the entity set of this name.":
            "Die definierende Abfrage '%1' ist neu und liest die Entitätsmenge dieses Namens.",
        "The device proof cannot be read: %1.": "Der Gerätenachweis ist nicht lesbar: %1.",
        "The device proof is for another URL.": "Der Gerätenachweis gilt für eine andere URL.",
        "The device proof is for another method.": "Der Gerätenachweis gilt für eine andere Methode.",
        "The device proof is for other credentials.": "Der Gerätenachweis gilt für andere Anmeldedaten.",
        "The device proof is signed with another key than that of the registration.":
            "Der Gerätenachweis ist mit einem anderen Schlüssel als dem der Registrierung unterschrieben.",
        "The device proof is too old, or the clock of the device is wrong. Use the new nonce.":
            "Der Gerätenachweis ist zu alt, oder die Uhr des Geräts geht falsch. Die neue Nonce verwenden.",
        "The device proof needs the nonce in the field DPoP-Nonce.":
            "Der Gerätenachweis braucht die Nonce aus dem Feld DPoP-Nonce.",
        "The device proof was used before.": "Der Gerätenachweis wurde schon verwendet.",
        "The feed %1 is not suspended.": "Der Feed %1 ist nicht angehalten.",
        "The feed %1 is suspended: %2 Resume it with 'feed resume %3'.":
            "Der Feed %1 ist angehalten: %2 Ihn fortsetzen mit 'feed resume %3'.",
        "The file exceeds %1 bytes.": "Die Datei hat mehr als %1 Bytes.",
        "The file is no YAML.": "Die Datei ist kein YAML.",
        "The file is no YAML: %1.": "Die Datei ist kein YAML: %1.",
        "The file with the keys has no key '%1'.": "Die Datei mit den Schlüsseln hat keinen Schlüssel '%1'.",
        "The first key of a defining query is its name.":
            "Der erste Schlüssel einer definierenden Abfrage ist ihr Name.",
        "The first key of an endpoint is its name.": "Der erste Schlüssel eines Endpunkts ist sein Name.",
        "The folder %1 is not empty.": "Der Ordner %1 ist nicht leer.",
        "The identifier": "Die Kennung",
        "The key '%1' is kept for the export, and has no effect.":
            "Der Schlüssel '%1' bleibt für die Ausgabe erhalten und hat keine Wirkung.",
        "The key '%1' stands before the first section.": "Der Schlüssel '%1' steht vor dem ersten Abschnitt.",
        "The key '%1' stands there twice.": "Der Schlüssel '%1' steht zweimal da.",
        "The key authentication.%1 of the destination is missing or cannot be used.":
            "Der Schlüssel authentication.%1 des Ziels fehlt oder ist nicht verwendbar.",
        "The key of the certificate request is neither P-256 nor RSA with 3072 bits.":
            "Der Schlüssel des Zertifikatsantrags ist weder P-256 noch RSA mit 3072 Bits.",
        "The keys are %1.": "Die Schlüssel sind %1.",
        "The master key does not open the keys of the server: %1":
            "Der Hauptschlüssel öffnet die Schlüssel des Servers nicht: %1",
        "The name of a section ends with ']'.": "Der Name eines Abschnitts endet mit ']'.",
        "The name of a setting": "Der Name einer Einstellung",
        "The name of the user": "Der Name des Benutzers",
        "The permission names the destination '%1', which does not exist.":
            "Die Berechtigung nennt das Ziel '%1', das es nicht gibt.",
        "The result of PostgreSQL cannot be read: %1": "Das Ergebnis von PostgreSQL ist nicht lesbar: %1",
        "The sealed value '%1' of %2 cannot be opened.": "Der versiegelte Wert '%1' von %2 kann nicht geöffnet werden.",
        "The secret %1 cannot be read: %2": "Das Geheimnis %1 kann nicht gelesen werden: %2",
        "The secret %1 has no value.": "Das Geheimnis %1 hat keinen Wert.",
        "The secret %1 is no text.": "Das Geheimnis %1 ist kein Text.",
        "The section '%1' is kept for the export, and has no effect.":
            "Der Abschnitt '%1' bleibt für die Ausgabe erhalten und hat keine Wirkung.",
        "The setting '%1' is read-only, so no setting was changed.":
            "Die Einstellung '%1' ist nur lesbar; keine Einstellung wurde geändert.",
        "The signature of the certificate request is invalid.": "Die Unterschrift des Zertifikatsantrags ist ungültig.",
        "The signature of the device proof is invalid.": "Die Unterschrift des Gerätenachweises ist ungültig.",
        "The state of the server is damaged: %1": "Der Zustand des Servers ist beschädigt: %1",
        "The state of the server is not available: %1": "Der Zustand des Servers ist nicht verfügbar: %1",
        "The statement was cancelled.": "Die Anweisung wurde abgebrochen.",
        "The tables have version %1, and this build knows versions up to %2.":
            "Die Tabellen haben die Fassung %1, und dieses Programm kennt Fassungen bis %2.",
        "The tables have version %1, and this build needs version %2.":
            "Die Tabellen haben die Fassung %1, und dieses Programm braucht die Fassung %2.",
        "The values are nested too deeply, or there are too many.":
            "Die Werte sind zu tief verschachtelt, oder es sind zu viele.",
        "The version is no text.": "Die Fassung ist kein Text.",
        "There is no %1 '%2'.": "Nicht vorhanden: %1 '%2'.",
        "There is no application '%1'.": "Die Anwendung '%1' gibt es nicht.",
        "There is no destination '%1'. %2": "Das Ziel '%1' gibt es nicht. %2",
        "There is no feed %1.": "Den Feed %1 gibt es nicht.",
        "There is no file %1.": "Die Datei %1 gibt es nicht.",
        "This build has no SMP-shaped endpoints: leave compatibility.smp out.":
            "Dieses Programm hat keine Endpunkte in der Form von SMP: compatibility.smp weglassen.",
        "This build keeps its state in SQLite files: leave database.url out.":
            "Dieses Programm hält seinen Zustand in SQLite-Dateien: database.url weglassen.",
        "This state cannot %1.": "Das kann dieser Zustand nicht: %1.",
        "This version does not have the authentication %1 of destinations.":
            "Diese Version hat die Anmeldung %1 für Ziele nicht.",
        "Tokens need an issuer and an audience.": "Token brauchen einen Aussteller und eine Zielgruppe.",
        "Whoever knows the id of a registration can use it. Set device_proof to key.":
            "Wer die Kennung einer Registrierung kennt, kann sie benutzen. device_proof auf key setzen.",
        "a name has 1 to 64 letters, digits, dots, hyphens and underscores.":
            "ein Name hat 1 bis 64 Buchstaben, Ziffern, Punkte, Bindestriche und Unterstriche.",
        "a part set cannot be read": "eine Menge von Teilen ist nicht lesbar",
        "a refresh has no result": "ein Abruf hat kein Ergebnis",
        "a statement of the transaction failed": "eine Anweisung der Transaktion ist fehlgeschlagen",
        "a value of the column %1 cannot be read": "ein Wert der Spalte %1 ist nicht lesbar",
        "added": "neu",
        "an entry cannot be read": "ein Eintrag kann nicht gelesen werden",
        "another machine is reached with sslmode=verify-full or verify-ca only":
            "ein anderer Rechner wird nur mit sslmode=verify-full oder verify-ca erreicht",
        "another node changes the request": "ein anderer Knoten ändert die Anfrage",
        "application": "Anwendung",
        "application %1": "Anwendung %1",
        "applications": "Anwendungen",
        "audit": "Prüfprotokoll",
        "authentication.kind: %1 needs %2.": "authentication.kind: %1 braucht %2.",
        "be copied by a node: use pg_dump or a base backup":
            "von einem Knoten kopiert werden: pg_dump oder eine Basissicherung verwenden",
        "captcha: anonymous has no effect without a security configuration of the kind anonymous.":
            "captcha: anonymous hat ohne eine Sicherheitskonfiguration der Art anonymous keine Wirkung.",
        "changed": "geändert",
        "configuration": "Konfiguration",
        "copy a state in memory": "einen Zustand im Speicher kopieren",
        "data folder": "Datenordner",
        "the upload '%1' cannot be read": "'%1' kann nicht gelesen werden",
        "the configuration %1 of %2 cannot be read by this build":
            "dieses Programm kann die Konfiguration %1 von %2 nicht lesen",
        "%1 has no effect: %2": "%1 hat keine Wirkung: %2",
        "this build takes no transaction traces.": "dieses Programm nimmt keine Aufzeichnungen von Vorgängen an.",
        "this build sends no push messages.": "dieses Programm sendet keine Push-Nachrichten.",
        "push has no effect: this build sends no push messages.":
            "push hat keine Wirkung: dieses Programm sendet keine Push-Nachrichten.",
        "%1 has no effect: this build makes no images of stores.":
            "%1 hat keine Wirkung: dieses Programm macht keine Abbilder von Speichern.",
        "check_url needs https: credentials would be readable on the way.":
            "check_url braucht https: Zugangsdaten wären unterwegs lesbar.",
        "The authorities in %1 cannot be read.": "Die Zertifizierungsstellen in %1 sind nicht lesbar.",
        "the authorities of client certificates cannot be read":
            "die Zertifizierungsstellen für Zertifikate von Clients sind nicht lesbar",
        "This build cannot read the active version %1. Activate another one.":
            "Dieses Programm kann die aktive Fassung %1 nicht lesen. Eine andere aktivieren.",
        "database.url is not used by this build: leave it out.":
            "database.url wird von diesem Programm nicht verwendet: es weglassen.",
        "destination %1": "Ziel %1",
        "destination %1, query %2": "Ziel %1, Abfrage %2",
        "directory user": "Benutzer des Verzeichnisses",
        "it has an unknown file": "sie enthält eine unbekannte Datei",
        "it is incomplete": "sie ist unvollständig",
        "it is incomplete or was changed": "sie ist unvollständig oder wurde geändert",
        "it is no backup of an Outpost server": "sie ist keine Sicherung eines Outpost-Servers",
        "it is too short": "sie ist zu kurz",
        "no approval was stored": "es wurde keine Freigabe gespeichert",
        "no change number was given": "es wurde keine Änderungsnummer vergeben",
        "no incarnation is left": "es gibt keine weitere Inkarnation",
        "no memory is left": "es ist kein Speicher mehr da",
        "no pipe can be made": "es kann keine Pipe angelegt werden",
        "operator": "Betreiber",
        "policy": "Richtlinie",
        "registration": "Registrierung",
        "removed": "entfernt",
        "security %1": "Sicherheit %1",
        "server.tls.client_ca needs server.tls.mode: own.": "server.tls.client_ca braucht server.tls.mode: own.",
        "server.tls.mode: behind-proxy needs server.trusted_hops, the number of proxies in front.":
            "server.tls.mode: behind-proxy braucht server.trusted_hops, die Zahl der Proxys davor.",
        "server.tls.mode: own needs server.tls.certificate and server.tls.key.":
            "server.tls.mode: own braucht server.tls.certificate und server.tls.key.",
        "service key": "Dienstschlüssel",
        "state": "Zustand",
        "store the character 0 in a text": "das Zeichen 0 in einem Text speichern",
        "the URL may not set %1": "die URL darf %1 nicht setzen",
        "the URL of the database cannot be read": "die URL der Datenbank ist nicht lesbar",
        "the caller has gone": "der Aufrufer ist weg",
        "the column %1 has the type %2": "die Spalte %1 hat den Typ %2",
        "the column %1 is null": "die Spalte %1 ist leer",
        "the configuration %1 of %2 cannot be read": "die Konfiguration %1 von %2 kann nicht gelesen werden",
        "the connection cannot be used in pipeline mode": "die Verbindung beherrscht keine Folgen von Anweisungen",
        "the connection of the transaction is gone": "die Verbindung der Transaktion ist weg",
        "the database has no clock": "die Datenbank hat keine Uhr",
        "the edge of the audit was changed": "der Rand des Prüfprotokolls wurde geändert",
        "the feed %1 has no partition": "der Feed %1 hat keine Partition",
        "the file cannot be made": "die Datei kann nicht angelegt werden",
        "the file cannot be read": "die Datei kann nicht gelesen werden",
        "the operation was cancelled": "der Vorgang wurde abgebrochen",
        "the properties of the registration '%1' cannot be read":
            "die Eigenschaften der Registrierung '%1' sind nicht lesbar",
        "the server did not answer in time": "der Server hat nicht rechtzeitig geantwortet",
        "the statement has no result": "die Anweisung hat kein Ergebnis",
        "the statement has too many values": "die Anweisung hat zu viele Werte",
        "the table cluster is empty": "die Tabelle cluster ist leer",
        "the transaction has ended": "die Transaktion ist beendet",
        "there is no column %1": "die Spalte %1 gibt es nicht",
        "there is no row %1": "die Zeile %1 gibt es nicht",
        "user": "Benutzer",
        "version %1 of %2 cannot be read by this build": "die Fassung %1 von %2 kann dieses Programm nicht lesen",
    ]
}
