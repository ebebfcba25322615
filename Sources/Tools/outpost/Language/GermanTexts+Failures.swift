extension GermanTexts {
    /// The texts of errors.
    static let failures: [String: String] = [
        "error:": "Fehler:",
        """
        Send them first: outpost hand-over %1 NAME --pending push
        Or give them up: outpost hand-over %2 NAME --pending discard
        """:
            """
        Zuerst senden: outpost hand-over %1 NAME --pending push
        Oder aufgeben: outpost hand-over %2 NAME --pending discard
        """,
        "Give them up with: outpost hand-over %1 NAME --pending discard":
            "Aufgeben mit: outpost hand-over %1 NAME --pending discard",
        "See what was refused: outpost changes %1 --failed":
            "Abgelehnte Änderungen zeigen: outpost changes %1 --failed",
        "This part of the query language is not supported.": "Dieser Teil der Abfragesprache wird nicht unterstützt.",
        "Give the root of the service: the address before $metadata.":
            "Die Wurzel des Dienstes angeben: die Adresse vor $metadata.",
        "Ask for access, or use another user.": "Um Zugriff bitten oder einen anderen Benutzer nehmen.",
        "Open the address in a browser to see that page.":
            "Die Adresse in einem Browser öffnen, um diese Seite zu sehen.",
        "Use the new address in place of this one.": "Die neue Adresse anstelle dieser benutzen.",
        "Nothing was kept. Run the same command again.":
            "Es wurde nichts behalten. Denselben Befehl noch einmal ausführen.",
        "Report this to the operator of the service.": "Dem Betreiber des Dienstes melden.",
        "Give the root of the service. If this is the root, ask the operator of the service.":
            "Die Wurzel des Dienstes angeben. Wenn sie es schon ist, den Betreiber des Dienstes fragen.",
        "Give the root of the service, such as https://host/service/.":
            "Die Wurzel des Dienstes angeben, etwa https://host/service/.",
        "Is the service running, and is this the right address?": "Läuft der Dienst, und ist das die richtige Adresse?",
        "If you trust the certificate, name its authority with --trust FILE.pem.":
            "Wenn das Zertifikat vertrauenswürdig ist, seinen Aussteller mit --trust DATEI.pem nennen.",
        "Ask the service's operator which certificates it accepts.":
            "Den Betreiber des Dienstes fragen, welche Zertifikate er annimmt.",
        "The proxy on the way needs a user name and a password.":
            "Der Proxy auf dem Weg verlangt Benutzername und Kennwort.",
        "Nothing is lost. Run the same command again.": "Nichts ist verloren. Denselben Befehl noch einmal ausführen.",
        "Nothing is lost. Run the same command again when the service or the network is faster.":
            "Nichts ist verloren. Denselben Befehl noch einmal ausführen, wenn Dienst oder Netz schneller sind.",
        "A repetition gets the same response. Report it to the operator of the service.":
            "Eine Wiederholung bekommt dieselbe Antwort. Dem Betreiber des Dienstes melden.",
        "Check the address: another program, or a proxy on the way, may have answered.":
            "Die Adresse prüfen: vielleicht hat ein anderes Programm oder ein Proxy auf dem Weg geantwortet.",
        "Use the https address of the service. If you trust the network: --allow-plain-http":
            "Die https-Adresse des Dienstes benutzen. Wenn das Netz vertrauenswürdig ist: --allow-plain-http",
        "If that host belongs to the service: --follow %1": "Wenn dieser Host zum Dienst gehört: --follow %1",
        "Leave the option out, or use another transport.":
            "Die Option weglassen, oder einen anderen Transport benutzen.",
        "A repetition fails until the operator changes the links of the service to https.":
            "Eine Wiederholung scheitert, bis der Betreiber die Verweise des Dienstes auf https umstellt.",
        "Name another --port (0 takes a free one), and a --host of this machine.":
            "Einen anderen --port (0 nimmt einen freien) und einen --host dieses Rechners nennen.",
        "Give PEM files with --tls and --tls-key.": "Mit --tls und --tls-key PEM-Dateien angeben.",
        "Give a SQLite database, or the directory of a clone.":
            "Eine SQLite-Datenbank oder das Verzeichnis eines Klons angeben.",
        "A clone is served by its directory; other encrypted files cannot be served.":
            """
        Ein Klon wird über sein Verzeichnis angeboten; andere verschlüsselte Dateien können nicht angeboten \
        werden.
        """,
        "Wait for the other program, or end it, and try again.":
            "Auf das andere Programm warten oder es beenden, dann noch einmal versuchen.",
        "Ask its owner for access, or run this as another user.":
            "Den Besitzer um Zugriff bitten, oder als anderer Benutzer ausführen.",
        "Give it as --key VIEW=COLUMN, named as in the database.":
            "Als --key SICHT=SPALTE angeben, benannt wie in der Datenbank.",
        "List the names: outpost metadata show FILE-or-URL": "Die Namen auflisten: outpost metadata show FILE-or-URL",
        "Give another name in the configuration file.": "In der Konfigurationsdatei einen anderen Namen angeben.",
        "Correct the groups in the configuration file.": "Die Gruppen in der Konfigurationsdatei berichtigen.",
        "Correct the annotations of the package in the metadata.":
            "Die Annotationen des Pakets in den Metadaten berichtigen.",
        "For example: outpost new shop --service URL": "Zum Beispiel: outpost new shop --service URL",
        "Remove %1 to begin a new log.": "%1 entfernen, um ein neues Protokoll zu beginnen.",
        "its folder": "Den Ordner des Protokolls",
        "Try again when the other commands have finished.":
            "Noch einmal versuchen, wenn die anderen Befehle fertig sind.",
        "Name a folder of your own in XDG_DATA_HOME, or keep the key yourself with --key-file FILE.":
            """
        In XDG_DATA_HOME einen eigenen Ordner nennen, oder den Schlüssel mit --key-file DATEI selbst \
        aufbewahren.
        """,
        "If nobody else has read it: chmod go= %1": "Wenn niemand sonst sie gelesen hat: chmod go= %1",
        "The key file %1 cannot be read: %2.": "Die Schlüsseldatei %1 ist nicht lesbar: %2.",
        "Name the file that the clone was made with: --key-file FILE":
            "Die Datei nennen, mit der der Klon angelegt wurde: --key-file DATEI",
        "Make a key file with: outpost keys new FILE": "Eine Schlüsseldatei anlegen mit: outpost keys new FILE",
        "Take a longer one: several words are easy to keep in mind.":
            "Eine längere nehmen: mehrere Wörter sind leicht zu merken.",
        "A passphrase has at least one character.": "Eine Passphrase hat mindestens ein Zeichen.",
        "If nobody has exchanged it: chmod go-w %1": "Wenn niemand sie ausgetauscht hat: chmod go-w %1",
        "Copy it to a folder of your own: install -m 600 FILE COPY":
            "Sie in einen eigenen Ordner kopieren: install -m 600 FILE COPY",
        "\nTo use it as it is: --allow-readable-secrets": "\nUm sie zu benutzen, wie sie ist: --allow-readable-secrets",
        "Give another name.": "Einen anderen Namen angeben.",
        "Look at the device. Then change the key once more: outpost rekey DIR":
            "Das Gerät prüfen. Dann den Schlüssel noch einmal ändern: outpost rekey DIR",
        "%1 may not be written, but even a query writes there.":
            "In %1 darf nicht geschrieben werden, aber auch eine Abfrage schreibt dort.",
        "The database": "Die Datenbank",
        """
        If it is yours: chmod -R u+w DIR
        Otherwise copy it to a folder of your own: cp -r DIR COPY && chmod -R u+w COPY
        """:
            """
        Bei eigenem Besitz: chmod -R u+w DIR
        Sonst in einen eigenen Ordner kopieren: cp -r DIR COPY && chmod -R u+w COPY
        """,
        "\nAfter an interrupted change of the key: outpost rekey DIR":
            "\nNach einer unterbrochenen Änderung des Schlüssels: outpost rekey DIR",
        "Give the key that the clone was made with: --key-file FILE, or the right passphrase.":
            "Den Schlüssel angeben, mit dem der Klon angelegt wurde: --key-file DATEI, oder die richtige Passphrase.",
        "Make room and run the same command again. Everything that was complete is kept.":
            "Platz schaffen und denselben Befehl noch einmal ausführen. Vollständiges bleibt erhalten.",
        "Another program is using the file. Try again later.":
            "Ein anderes Programm benutzt die Datei. Später noch einmal versuchen.",
        "Install the newer version of outpost.": "Die neuere Version von outpost installieren.",
        "List the damage: outpost verify DIR\nSave the readable rows: outpost repair DIR":
            "Die Schäden auflisten: outpost verify DIR\nDie lesbaren Zeilen retten: outpost repair DIR",
        "Look at the device and its limits, then run the same command again.":
            "Das Gerät und seine Grenzen prüfen, dann denselben Befehl noch einmal ausführen.",
        "Bring it up to date with: outpost pull %1": "Auf den neuesten Stand bringen mit: outpost pull %1",
        "Make one with: outpost clone URL DIR": "Einen anlegen mit: outpost clone URL DIR",
        "Wait for the other command. Reading and editing work meanwhile.":
            "Auf den anderen Befehl warten. Lesen und Bearbeiten gehen inzwischen.",
        "End the other commands that use the store, such as serve or watch.":
            "Die anderen Befehle beenden, die den Speicher benutzen, etwa serve oder watch.",
        "Choose another name, or remove the other query first: outpost remove-query DIR %1":
            "Einen anderen Namen wählen, oder zuerst die andere Abfrage entfernen: outpost remove-query DIR %1",
        "Undo the whole change set with --with-others.":
            "Die ganze Änderungsgruppe mit --with-others rückgängig machen.",
        """
        Check the service. If the changes were not sent: outpost push DIR --from-copy
        If they were sent, undo them: outpost undo DIR
        """:
            """
        Beim Dienst nachsehen. Wurden die Änderungen nicht gesendet: outpost push DIR --from-copy
        Wurden sie gesendet, sie rückgängig machen: outpost undo DIR
        """,
        "Find its key at the service, then: outpost changes accept DIR %1 --key %2=KEY":
            "Ihren Schlüssel beim Dienst finden, dann: outpost changes accept DIR %1 --key %2=KEY",
        "Set its value, which the clone keeps: outpost pull DIR --set NAME=VALUE":
            "Ihren Wert setzen, den der Klon behält: outpost pull DIR --set NAME=WERT",
        """
        If the service really has so many rows, allow them: --max-rows N. Otherwise report it to the operator of \
        the service.
        """:
            """
        Hat der Dienst wirklich so viele Zeilen, sie erlauben: --max-rows N. Sonst dem Betreiber des \
        Dienstes melden.
        """,
        "List the queries: outpost status DIR": "Die Abfragen auflisten: outpost status DIR",
        "List the pending changes with their categories: outpost status DIR":
            "Die ausstehenden Änderungen mit ihren Kategorien auflisten: outpost status DIR",
        "List them: outpost changes DIR --failed": "Sie auflisten: outpost changes DIR --failed",
        "List them: outpost changes DIR --doubts": "Sie auflisten: outpost changes DIR --doubts",
        "List them: outpost changes DIR": "Sie auflisten: outpost changes DIR",
        "Name one entity by its key, such as 'Orders(10248)'.":
            "Eine Entität mit ihrem Schlüssel nennen, etwa 'Orders(10248)'.",
        "Bring it: outpost add-query DIR %1, then: outpost pull DIR":
            "Es hinzunehmen: outpost add-query DIR %1, dann: outpost pull DIR",
        "If that host belongs to the service: --follow HOST. Otherwise report it to the operator of the service.":
            "Wenn dieser Host zum Dienst gehört: --follow HOST. Sonst dem Betreiber des Dienstes melden.",
        "A repetition gets the same response. Ask for less with $select or $filter.":
            "Eine Wiederholung bekommt dieselbe Antwort. Mit $select oder $filter weniger verlangen.",
        "This user does not have permission at the service.": "Diesem Benutzer fehlt beim Dienst die Berechtigung.",
        "Make room and run the same command again. Reading works meanwhile.":
            "Platz schaffen und denselben Befehl noch einmal ausführen. Lesen geht inzwischen.",
        "The service is busy. Nothing is lost: try again later.":
            "Der Dienst ist ausgelastet. Nichts ist verloren: später noch einmal versuchen.",
        "Look at the token in %1: it may have expired, or be one for another service.":
            "Das Token in %1 prüfen: es kann abgelaufen oder für einen anderen Dienst sein.",
        """
        Give a user with --user NAME; the password is asked for, or read from --password-file.
        If the service takes tokens: outpost login URL
        """:
            """
        Mit --user NAME einen Benutzer angeben; das Kennwort wird erfragt oder aus --password-file gelesen.
        Nimmt der Dienst Token: outpost login URL
        """,
        "the password in %1": "das Kennwort in %1",
        "the password as it was typed": "das eingegebene Kennwort",
        "Is %1 the right user, and %2 the right one?": "Ist %1 der richtige Benutzer, und ist %2 richtig?",
        " Did you mean %1?": " Gemeint: %1?",
        "There is no command '%1'.%2": "Es gibt keinen Befehl '%1'.%2",
        "Other users of this machine can change %1.": "Andere Benutzer dieses Rechners können %1 ändern.",
        "Take that right away: chmod go-w %1": "Ihnen das Recht nehmen: chmod go-w %1",
        "%1 is longer than %2 bytes.": "%1 ist länger als %2 Bytes.",
        "The password file %1 cannot be read as text.": "Die Kennwortdatei %1 ist nicht als Text lesbar.",
        "The password file %1 is empty.": "Die Kennwortdatei %1 ist leer.",
    ]
}
