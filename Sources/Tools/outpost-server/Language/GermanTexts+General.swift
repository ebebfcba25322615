extension GermanTexts {
    /// The texts of the program as a whole.
    static let general: [String: String] = [
        "Serve OData services to a team of devices.": "OData-Dienste für ein Team von Geräten bereitstellen.",
        """
        Devices register with the server, and reach back ends through it. The server adds delta links, repeatable \
        requests, policies and permissions, which any OData client can use.
        """:
            """
        Geräte registrieren sich beim Server und erreichen Backends durch ihn. Der Server ergänzt Delta-Links, \
        wiederholbare Anfragen, Richtlinien und Rechte, die jeder OData-Client nutzen kann.
        """,
        """
        EXIT CODES
          0  done
          1  the command was refused or failed
          2  the command line or the configuration is wrong
          3  some items were refused
        """:
            """
        RÜCKGABEWERTE
          0  erledigt
          1  der Befehl wurde abgelehnt oder ist gescheitert
          2  die Befehlszeile oder die Konfiguration ist falsch
          3  einiges wurde abgelehnt
        """,
        "error: %1": "Fehler: %1",
        "yes": "ja",
        "no": "nein",
        "never": "nie",
        "fine": "gut",
        "warning": "Warnung",
        "error": "Fehler",
        "%1: warning: %2": "%1: Warnung: %2",
        "Write the result as JSON.": "Ausgabe als JSON.",
        "Do it without asking.": "Ohne Rückfrage ausführen.",
        "The application.": "Die Anwendung.",
        "The name.": "Der Name.",
        "Add --yes.": "--yes angeben.",
        "'%1' is removed.": "'%1' ist entfernt.",
        "NAME": "NAME",
        "STATE": "ZUSTAND",
        "VERSION": "FASSUNG",
        "TITLE": "TITEL",
        "BY": "VON",
        "AT": "AM",
        "ID": "NR",
        "USER": "BENUTZER",
        "LOCK": "SPERRE",
        "SEEN": "GESEHEN",
        "SETTING": "EINSTELLUNG",
        "VALUE": "WERT",
        "READ-ONLY": "NUR LESEN",
        "APPLICATION": "ANWENDUNG",
        "QUERY": "ABFRAGE",
        "ROWS": "ZEILEN",
        "CHECKED": "GEPRÜFT",
        "ROLE": "ROLLE",
        "LOCKED": "GESPERRT",
        "PASSWORD": "KENNWORT",
        "ROLES": "ROLLEN",
        "ISSUER": "AUSSTELLER",
        "CHANGE": "ÄNDERUNG",
        "READS/HOUR": "ABRUFE/STUNDE",
        "The configuration file; by default outpost-server.yaml in the data folder, if it is there.":
            "Die Konfigurationsdatei; sonst outpost-server.yaml im Datenordner, wenn es sie gibt.",
        "The data folder; by default server.data_dir, else outpost-server in the user's data folder.":
            "Der Datenordner; sonst server.data_dir, sonst outpost-server im Datenordner des Benutzers.",
        "%1 cannot be read.": "%1 kann nicht gelesen werden.",
        "Check the path and its permissions.": "Pfad und Zugriffsrechte prüfen.",
        "%1 is too large.": "%1 ist zu groß.",
        "%1 is no text in UTF-8.": "%1 ist kein Text in UTF-8.",
        "There is no folder for the data: this user has no home folder.":
            "Für die Daten gibt es keinen Ordner: dieser Benutzer hat kein Home-Verzeichnis.",
        "Name one with --data.": "Einen mit --data angeben.",
        "There is no server in %1.": "In %1 gibt es keinen Server.",
        "Make one with 'outpost-server init', or start the default one with 'outpost-server run'.":
            "Einen mit 'outpost-server init' anlegen, oder den vorgegebenen mit 'outpost-server run' starten.",
        "There is no application '%1'.": "Die Anwendung '%1' gibt es nicht.",
        "Add one with 'outpost-server app import'.": "Eine mit 'outpost-server app import' anlegen.",
        "There are %1.": "Es gibt %1.",
        "Check the data folder and keys.master, or restore the master key from its safe place.":
            "Datenordner und keys.master prüfen, oder den Hauptschlüssel aus seinem sicheren Ort zurückholen.",
        "The tables have version %1, and this build knows versions up to %2.":
            "Die Tabellen haben die Fassung %1, und dieses Programm kennt Fassungen bis %2.",
        "Use the newer build, or restore a backup.":
            "Das neuere Programm verwenden, oder eine Sicherung zurückspielen.",
        "Name a folder that does not exist or is empty.": "Einen Ordner angeben, den es nicht gibt oder der leer ist.",
        "An '.ini' file names neither URLs nor queries, so that the application must exist.":
            "Eine '.ini'-Datei nennt weder URLs noch Abfragen; die Anwendung muss es deshalb schon geben.",
        "Import the destinations as YAML first.": "Zuerst die Ziele als YAML einlesen.",
        "The application '%1' has no version %2.": "Die Anwendung '%1' hat keine Fassung %2.",
        "otlp.fields: '%1' is no name of a header field.": "otlp.fields: '%1' ist kein Name eines Kopffelds.",
    ]
}
