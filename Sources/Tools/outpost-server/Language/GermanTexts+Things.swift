extension GermanTexts {
    /// The texts of the commands for applications, devices and feeds.
    static let things: [String: String] = [
        "List, add, import, export and remove applications.":
            "Anwendungen auflisten, anlegen, einlesen, ausgeben und entfernen.",
        "List applications.": "Anwendungen auflisten.",
        "Show an application with its versions.": "Eine Anwendung mit ihren Fassungen zeigen.",
        "Add an application without destinations.": "Eine Anwendung ohne Ziele anlegen.",
        "The name: letters, digits, dots, hyphens and underscores.":
            "Der Name: Buchstaben, Ziffern, Punkte, Bindestriche und Unterstriche.",
        "The title for people.": "Der Titel für Menschen.",
        "'%1' is no name: %2": "'%1' ist kein Name: %2",
        "'%1' is a draft. Import a configuration: outpost-server app import %2 FILE --activate":
            "'%1' ist ein Entwurf. Eine Konfiguration einlesen: outpost-server app import %2 FILE --activate",
        "Remove an application with its users and registrations.":
            "Eine Anwendung mit ihren Benutzern und Registrierungen entfernen.",
        "Removing '%1' removes its users and registrations.":
            "Mit '%1' verschwinden auch Benutzer und Registrierungen.",
        "Import a configuration as a new version.": "Eine Konfiguration als neue Fassung einlesen.",
        """
        YAML makes the application if it does not exist. An '.ini' file changes the active configuration; keys \
        without a counterpart are kept for the export.
        """:
            """
        YAML legt die Anwendung an, wenn es sie nicht gibt. Eine '.ini'-Datei ändert die aktive Konfiguration; \
        Schlüssel ohne Gegenstück bleiben für die Ausgabe erhalten.
        """,
        "Activate the version.": "Die Fassung aktivieren.",
        "Version %1 of '%2' is a draft.": "Fassung %1 von '%2' ist ein Entwurf.",
        "Write the configuration of an application.": "Die Konfiguration einer Anwendung ausgeben.",
        "Write the '.ini' file of the older products.": "Die '.ini'-Datei der älteren Produkte ausgeben.",
        "The version; by default the active one.": "Die Fassung; sonst die aktive.",
        "'%1' has no active version.": "'%1' hat keine aktive Fassung.",
        "Name one with --version.": "Eine mit --version angeben.",
        "List, lock, wipe and disconnect registrations.":
            "Registrierungen auflisten, sperren, löschen lassen und beenden.",
        "List registrations.": "Registrierungen auflisten.",
        "Show a registration with its settings.": "Eine Registrierung mit ihren Einstellungen zeigen.",
        "The identifier of the registration.": "Die Kennung der Registrierung.",
        "The identifiers of the registrations.": "Die Kennungen der Registrierungen.",
        "%1: state %2, lock %3": "%1: Zustand %2, Sperre %3",
        "Lock the app on devices.": "Die App auf Geräten sperren.",
        "Unlock the app on devices.": "Die Sperre der App auf Geräten aufheben.",
        "Tell devices to erase the data of the app.": "Geräte die Daten der App löschen lassen.",
        "A wipe of more than ten devices needs a second operator, and is requested at the operators' API.":
            """
        Das Löschen auf mehr als zehn Geräten braucht einen zweiten Betreiber, und wird über die Betreiber-API \
        beantragt.
        """,
        "A wipe erases pending changes.": "Das Löschen trifft auch Änderungen, die noch nicht gesendet sind.",
        "A wipe of more than %1 devices needs a second operator.":
            "Das Löschen auf mehr als %1 Geräten braucht einen zweiten Betreiber.",
        "Request it at the operators' API.": "Es über die Betreiber-API beantragen.",
        "%1: %2, the device has not confirmed yet.": "%1: %2, das Gerät hat es noch nicht bestätigt.",
        "There is no registration '%1'.": "Die Registrierung '%1' gibt es nicht.",
        "End a registration without a wipe.": "Eine Registrierung beenden, ohne Daten zu löschen.",
        "'%1' is no longer registered.": "'%1' ist nicht mehr registriert.",
        "Make a code with which a user registers one device.":
            "Einen Code ausstellen, mit dem ein Benutzer ein Gerät registriert.",
        "The hours for which the code is valid.": "Die Stunden, für die der Code gilt.",
        "--hours is a number from 1 to 8760.": "--hours ist eine Zahl von 1 bis 8760.",
        "%1   (for '%2', until %3)": "%1   (für '%2', bis %3)",
        "'%1' has no registration '%2'.": "'%1' hat keine Registrierung '%2'.",
        "List, refresh, resume and check feeds.": "Feeds auflisten, auffrischen, fortsetzen und prüfen.",
        "List feeds.": "Feeds auflisten.",
        "The application; by default all.": "Die Anwendung; sonst alle.",
        "Show a feed.": "Einen Feed zeigen.",
        "The number of the feed.": "Die Nummer des Feeds.",
        "%1/%2 of %3: %4, %5 rows": "%1/%2 von %3: %4, %5 Zeilen",
        "Let a running node refresh a feed now.": "Einen laufenden Knoten einen Feed jetzt auffrischen lassen.",
        "A running node refreshes the feed %1 within a second.":
            "Ein laufender Knoten frischt den Feed %1 innerhalb einer Sekunde auf.",
        "Accept the suspicious refresh of a suspended feed.":
            "Die verdächtige Auffrischung eines angehaltenen Feeds annehmen.",
        "The feed %1 is refreshed again.": "Der Feed %1 wird wieder aufgefrischt.",
        "Compare the rows of two users for a shared feed.":
            "Für einen geteilten Feed die Zeilen zweier Benutzer vergleichen.",
        """
        Each file holds the value of Authorization of a user, such as 'Bearer TOKEN'. A difference suspends the \
        feed: its rows depend on the user.
        """:
            """
        Jede Datei enthält den Wert von Authorization eines Benutzers, etwa 'Bearer TOKEN'. Ein Unterschied hält den \
        Feed an: seine Zeilen hängen vom Benutzer ab.
        """,
        "A file with the credentials of a user; twice.": "Eine Datei mit den Anmeldedaten eines Benutzers; zweimal.",
        "Both users get the same rows.": "Beide Benutzer bekommen dieselben Zeilen.",
        "The users get other rows: the feed is suspended.":
            "Die Benutzer bekommen verschiedene Zeilen: der Feed ist angehalten.",
    ]
}
