extension GermanTexts {
    /// The texts of the commands for a node and its data.
    static let node: [String: String] = [
        "Create a data folder with a master key and a configuration.":
            "Einen Datenordner mit Hauptschlüssel und Konfiguration anlegen.",
        """
        The folder gets the mode 0700. It must not exist or must be empty. Keep a copy of master.key in a safe \
        place: without it, neither the data nor a backup can be read.
        """:
            """
        Der Ordner bekommt die Rechte 0700. Es darf ihn nicht geben, oder er ist leer. Eine Kopie von master.key an \
        einem sicheren Ort aufbewahren: ohne sie sind weder die Daten noch eine Sicherung lesbar.
        """,
        "The folder; by default outpost-server in the user's data folder.":
            "Der Ordner; sonst outpost-server im Datenordner des Benutzers.",
        "This user has no home folder.": "Dieser Benutzer hat kein Home-Verzeichnis.",
        "Name a folder.": "Einen Ordner angeben.",
        "the file cannot be made": "die Datei kann nicht angelegt werden",
        "The server is in %1.": "Der Server ist in %1.",
        "Keep a copy of %1 in a safe place: no backup contains it.":
            "Eine Kopie von %1 an einem sicheren Ort aufbewahren: keine Sicherung enthält sie.",
        "Edit %1, then: outpost-server check --data %2": "%1 bearbeiten, danach: outpost-server check --data %2",
        "Serve.": "Den Server starten.",
        """
        Without configuration, the server makes a data folder and the application 'shop' on an example database. It \
        listens on this machine alone.
        """:
            """
        Ohne Konfiguration legt der Server einen Datenordner und die Anwendung 'shop' mit einer Beispieldatenbank \
        an. Er ist nur von diesem Rechner aus erreichbar.
        """,
        """
        SIGTERM ends the server: load balancers see that it is not ready, running requests end, jobs are given back. \
        A second SIGTERM ends it at once. SIGHUP reads the certificate again.
        """:
            """
        SIGTERM beendet den Server: Lastverteiler sehen, dass er nicht bereit ist, laufende Anfragen enden, Aufträge \
        werden zurückgegeben. Ein zweites SIGTERM beendet ihn sofort. SIGHUP liest das Zertifikat neu.
        """,
        "Supervisors ask /livez, /readyz and /startupz of any listener. Metrics are at server.metrics_listen.":
            """
        Überwachungen fragen /livez, /readyz und /startupz an jeder Adresse ab. Messwerte stehen unter \
        server.metrics_listen.
        """,
        "Write a line for each request to standard error.":
            "Für jede Anfrage eine Zeile in die Fehlerausgabe schreiben.",
        "Listen here instead of server.listen; port 0 takes a free one.":
            "Hier lauschen statt an server.listen; Port 0 nimmt einen freien.",
        "Listen here instead of server.operator_listen.": "Hier lauschen statt an server.operator_listen.",
        "Listen here instead of server.metrics_listen; empty for none.":
            "Hier lauschen statt an server.metrics_listen; leer für gar nicht.",
        "'%1' is no address: write HOST:PORT.": "'%1' ist keine Adresse: HOST:PORT schreiben.",
        "A listener that other machines reach needs TLS.": "Eine Adresse, die andere Rechner erreichen, braucht TLS.",
        "Set server.tls.mode to own, or to behind-proxy with server.trusted_hops.":
            "server.tls.mode auf own setzen, oder auf behind-proxy mit server.trusted_hops.",
        "The tables have version %1, and this build needs version %2.":
            "Die Tabellen haben die Fassung %1, und dieses Programm braucht die Fassung %2.",
        "Run 'outpost-server migrate', or set database.migrate to true.":
            "'outpost-server migrate' ausführen, oder database.migrate auf true setzen.",
        "Outpost server %1": "Outpost-Server %1",
        "  Device API      %1": "  Geräte-API      %1",
        "  Operators' API  %1operator/v1/": "  Betreiber-API   %1operator/v1/",
        "  Sign in once    %1   (valid for 15 minutes)": "  Einmal anmelden %1   (15 Minuten gültig)",
        "  Metrics         %1": "  Messwerte       %1",
        "  Data            %1": "  Daten           %1",
        "Check the configuration, the state and the back ends.": "Konfiguration, Zustand und Backends prüfen.",
        """
        All mistakes of the configuration are told at once, each with its line and column. Then the state is opened, \
        the audit is checked, and each back end is asked for its metadata. Nothing is changed.
        """:
            """
        Alle Fehler der Konfiguration werden auf einmal genannt, jeder mit Zeile und Spalte. Danach wird der Zustand \
        geöffnet, das Prüfprotokoll geprüft und jedes Backend nach seinen Metadaten gefragt. Nichts wird geändert.
        """,
        "The configuration is fine.": "Die Konfiguration ist in Ordnung.",
        "There is no server in %1 yet.": "In %1 gibt es noch keinen Server.",
        "The tables have version %1.": "Die Tabellen haben die Fassung %1.",
        "Bring the tables of the state to the version of this build.":
            "Die Tabellen des Zustands auf die Fassung dieses Programms bringen.",
        """
        'run' does this itself, unless database.migrate is false. The previous build can read the tables afterwards.
        """:
            """
        'run' macht das selbst, außer wenn database.migrate false ist. Das vorige Programm kann die Tabellen danach \
        noch lesen.
        """,
        "List the steps, and change nothing.": "Die Schritte nennen, und nichts ändern.",
        "The tables have version %1 already.": "Die Tabellen haben schon die Fassung %1.",
        "The steps from version %1 to version %2: %3.": "Die Schritte von Fassung %1 zu Fassung %2: %3.",
        "Went from version %1 to version %2: %3.": "Von Fassung %1 zu Fassung %2 gebracht: %3.",
        "Compare a configuration of an application with the active one.":
            "Eine Konfiguration einer Anwendung mit der aktiven vergleichen.",
        """
        The file is YAML with the keys of an application, or the '.ini' file of an older product. The report names \
        changed keys, affected queries with their rows and reads per hour, and the number of devices.
        """:
            """
        Die Datei ist YAML mit den Schlüsseln einer Anwendung, oder die '.ini'-Datei eines älteren Produkts. Der \
        Bericht nennt geänderte Schlüssel, betroffene Abfragen mit ihren Zeilen und Abrufen je Stunde, und die Zahl \
        der Geräte.
        """,
        "The configuration, as YAML or '.ini'.": "Die Konfiguration, als YAML oder '.ini'.",
        "Nothing changes.": "Nichts ändert sich.",
        "Changed keys: %1": "Geänderte Schlüssel: %1",
        "Affected devices: %1": "Betroffene Geräte: %1",
        "Activate a version of the configuration of an application.":
            "Eine Fassung der Konfiguration einer Anwendung aktivieren.",
        "Running nodes use the version within a second.":
            "Laufende Knoten verwenden die Fassung innerhalb einer Sekunde.",
        "The version.": "Die Fassung.",
        "Version %1 of '%2' is active.": "Fassung %1 von '%2' ist aktiv.",
        "Write a consistent copy of the state to a file.":
            "Eine in sich stimmige Kopie des Zustands in eine Datei schreiben.",
        """
        The server may run meanwhile. The file holds the configuration, the wrapped keys and the encrypted state, \
        and never the master key. Keep master.key in another place: the backup cannot be read without it.
        """:
            """
        Der Server kann dabei laufen. Die Datei enthält die Konfiguration, die verpackten Schlüssel und den \
        verschlüsselten Zustand, und nie den Hauptschlüssel. master.key woanders aufbewahren: ohne ihn ist die \
        Sicherung nicht lesbar.
        """,
        "The file to be made.": "Die Datei, die angelegt wird.",
        "%1 exists already.": "%1 gibt es schon.",
        "Name another file.": "Eine andere Datei angeben.",
        "%1: %2 bytes. The master key is not in it: keep it in another place.":
            "%1: %2 Bytes. Der Hauptschlüssel ist nicht darin: ihn woanders aufbewahren.",
        "Put a backup into an empty data folder.": "Eine Sicherung in einen leeren Datenordner zurückspielen.",
        """
        A new incarnation begins, so that devices notice changes that the backup does not have. Repeatable requests \
        from before the restore have an unknown outcome.
        """:
            """
        Eine neue Inkarnation beginnt, damit Geräte Änderungen bemerken, die in der Sicherung fehlen. Wiederholbare \
        Anfragen von davor haben einen unbekannten Ausgang.
        """,
        "The backup.": "Die Sicherung.",
        """
        The file with the master key, which is copied into the folder. It is not needed if keys.master names another \
        place.
        """:
            """
        Die Datei mit dem Hauptschlüssel, die in den Ordner kopiert wird. Sie ist nicht nötig, wenn keys.master \
        einen anderen Ort nennt.
        """,
        "The backup cannot be opened: %1": "Die Sicherung kann nicht geöffnet werden: %1",
        "Name the master key of the backed-up server with --master-key.":
            "Den Hauptschlüssel des gesicherten Servers mit --master-key angeben.",
        "The server is in %1. Incarnation %2 has begun.": "Der Server ist in %1. Die Inkarnation %2 hat begonnen.",
        "%1 holds no key.": "%1 enthält keinen Schlüssel.",
        "Name the file master.key of the server.": "Die Datei master.key des Servers angeben.",
        "Wrap all keys with a new master key.": "Alle Schlüssel mit einem neuen Hauptschlüssel verpacken.",
        """
        No stored value is rewritten, and delta tokens stay valid. Without --new-key, a new key replaces master.key; \
        the old one is kept as master.key.old until you remove it. Backups from before need the old key.
        """:
            """
        Kein gespeicherter Wert wird neu geschrieben, und Delta-Token bleiben gültig. Ohne --new-key ersetzt ein \
        neuer Schlüssel master.key; der alte bleibt als master.key.old, bis Sie ihn entfernen. Ältere Sicherungen \
        brauchen den alten Schlüssel.
        """,
        "A key file, such as one of 'outpost keys new'. Set keys.master to it afterwards.":
            "Eine Schlüsseldatei, etwa von 'outpost keys new'. Danach keys.master darauf setzen.",
        "The keys of %1 have a new master key. Keep a copy of it in a safe place.":
            "Die Schlüssel von %1 haben einen neuen Hauptschlüssel. Eine Kopie davon an einem sicheren Ort aufbewahren.",
        "Set keys.master to file:%1 before the next start.": "Vor dem nächsten Start keys.master auf file:%1 setzen.",
        "The master key is not in a file.": "Der Hauptschlüssel steht nicht in einer Datei.",
        "Name the new key with --new-key.": "Den neuen Schlüssel mit --new-key angeben.",
        "%1 exists: it is the key before the last change.":
            "%1 gibt es schon: das ist der Schlüssel vor der letzten Änderung.",
        "Move it to a safe place, then try again.": "Ihn an einen sicheren Ort bringen, dann noch einmal versuchen.",
        "%1 cannot be replaced. The new key is in %2.": "%1 kann nicht ersetzt werden. Der neue Schlüssel ist in %2.",
    ]
}
