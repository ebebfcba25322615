extension GermanTexts {
    /// The texts of the commands for users and operators.
    static let people: [String: String] = [
        "List, add, lock, remove and erase users of an application.":
            "Benutzer einer Anwendung auflisten, anlegen, sperren, entfernen und löschen.",
        """
        Users of the kind 'basic' sign in with a password of the server's directory, which 'add' sets. Users of \
        other kinds appear when they sign in.
        """:
            """
        Benutzer der Art 'basic' melden sich mit einem Kennwort aus dem Verzeichnis des Servers an, das 'add' setzt. \
        Benutzer anderer Arten erscheinen, wenn sie sich anmelden.
        """,
        "List users.": "Benutzer auflisten.",
        "Directory:": "Verzeichnis:",
        "Show a user with the registrations.": "Einen Benutzer mit seinen Registrierungen zeigen.",
        "The name, the subject or the number of the user.": "Der Name, das Subjekt oder die Nummer des Benutzers.",
        "%1 (%2, number %3)": "%1 (%2, Nummer %3)",
        "Locked: %1": "Gesperrt: %1",
        "Registration %1": "Registrierung %1",
        "Add a user to the server's directory, or set a new password.":
            "Einen Benutzer ins Verzeichnis des Servers aufnehmen, oder ein neues Kennwort setzen.",
        """
        The file must belong to you, and nobody else may read it. A final line end does not belong to the password.
        """:
            """
        Die Datei muss Ihnen gehören, und niemand sonst darf sie lesen. Ein Zeilenende am Schluss gehört nicht zum \
        Kennwort.
        """,
        "The name with which the user signs in.": "Der Name, mit dem sich der Benutzer anmeldet.",
        "A role; may be repeated.": "Eine Rolle; auch mehrmals.",
        "The file with the password.": "Die Datei mit dem Kennwort.",
        "'%1' can sign in to '%2'.": "'%1' kann sich bei '%2' anmelden.",
        "Refuse all requests of a user.": "Alle Anfragen eines Benutzers ablehnen.",
        "Serve the requests of a locked user again.": "Die Anfragen eines gesperrten Benutzers wieder beantworten.",
        "'%1' is locked.": "'%1' ist gesperrt.",
        "'%1' is unlocked.": "'%1' ist nicht mehr gesperrt.",
        "Remove a user from the directory, with all registrations.":
            "Einen Benutzer mit allen Registrierungen aus dem Verzeichnis entfernen.",
        "'%1' has no user '%2'.": "'%1' hat keinen Benutzer '%2'.",
        "Remove all data about a person, with a report.": "Alle Daten über eine Person entfernen, mit einem Bericht.",
        """
        Registrations, settings, policies, activation codes, counted sign-ins and stored responses of repeatable \
        requests go. The audit keeps its entries with a pseudonym in place of the name. The notice of the removal \
        keeps the name for a day, and backups keep everything.
        """:
            """
        Registrierungen, Einstellungen, Richtlinien, Aktivierungscodes, gezählte Anmeldungen und gespeicherte Antworten \
        wiederholbarer Anfragen verschwinden. Das Prüfprotokoll behält seine Einträge mit einem Pseudonym statt des \
        Namens. Der Hinweis auf die Entfernung behält den Namen einen Tag, und Sicherungen behalten alles.
        """,
        """
        Removed %1 users, %2 directory users, %3 registrations and %4 stored responses. %5 audit entries name %6 instead.
        """:
            """
        Entfernt: %1 Benutzer, %2 Benutzer des Verzeichnisses, %3 Registrierungen und %4 gespeicherte Antworten. \
        %5 Einträge des Prüfprotokolls nennen stattdessen %6.
        """,
        "List the users with 'outpost-server user list %1'.": "Die Benutzer zeigt 'outpost-server user list %1'.",
        "List the registrations with 'outpost-server device list %1'.":
            "Die Registrierungen zeigt 'outpost-server device list %1'.",
        "List the versions with 'outpost-server app show %1'.": "Die Fassungen zeigt 'outpost-server app show %1'.",
        "The database of the server. This version keeps its state in SQLite files and refuses a URL.":
            "Die Datenbank des Servers. Diese Fassung hält ihren Zustand in SQLite-Dateien und lehnt eine Adresse ab.",
        """
        --database cannot be used: this version keeps its state in SQLite files. Name their folder with --data.
        """:
            """
        --database geht nicht: diese Fassung hält ihren Zustand in SQLite-Dateien. Ihren Ordner mit --data angeben.
        """,
        "A name has 1 to %1 characters and no colon.": "Ein Name hat 1 bis %1 Zeichen und keinen Doppelpunkt.",
        "A name has 1 to %1 characters.": "Ein Name hat 1 bis %1 Zeichen.",
        "'%1' has several users '%2'.": "'%1' hat mehrere Benutzer '%2'.",
        "Name one by its number: %1.": "Einen mit seiner Nummer angeben: %1.",
        "List, add, change and remove operators.": "Betreiber auflisten, anlegen, ändern und entfernen.",
        "The roles are viewer, support, manager and security; each includes those before it.":
            "Die Rollen sind viewer, support, manager und security; jede enthält die davor.",
        "There is no role '%1'.": "Die Rolle '%1' gibt es nicht.",
        "The roles are %1.": "Die Rollen sind %1.",
        "List operators.": "Betreiber auflisten.",
        "Add an operator, and print a link to sign in once.":
            "Einen Betreiber anlegen, und einen Link zum einmaligen Anmelden ausgeben.",
        "The role: viewer, support, manager or security.": "Die Rolle: viewer, support, manager oder security.",
        "Sign in once: %1   (valid for 15 minutes)": "Einmal anmelden: %1   (15 Minuten gültig)",
        "Remove an operator and end the sessions.": "Einen Betreiber entfernen und seine Sitzungen beenden.",
        "Change the role of an operator.": "Die Rolle eines Betreibers ändern.",
        "'%1' has the role %2.": "'%1' hat die Rolle %2.",
        "Remove password and one-time passwords, and print a link.":
            "Kennwort und Einmalkennwörter entfernen, und einen Link ausgeben.",
        "Print a link with which an operator signs in once.":
            "Einen Link ausgeben, mit dem sich ein Betreiber einmal anmeldet.",
        "The link is valid for 15 minutes. The first operator is made, with the role security.":
            "Der Link ist 15 Minuten gültig. Der erste Betreiber wird angelegt, mit der Rolle security.",
    ]
}
