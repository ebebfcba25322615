extension GermanTexts {
    /// The texts of vaults and the log.
    static let vault: [String: String] = [
        "Show the events of a clone, or the log of the tool.":
            "Die Ereignisse eines Klons oder das Protokoll des Werkzeugs zeigen.",
        """
        With a directory, the log shows the events of that clone, newest first. Without one, it shows the log of \
        the tool itself for all its runs, newest first; JSON and exports are oldest first. The tool keeps the \
        newest 10,000 entries, encrypted and without secrets.
        """:
            """
        Mit einem Verzeichnis werden die Ereignisse dieses Klons gezeigt, das neueste zuerst. Ohne wird das \
        Protokoll des Werkzeugs über alle Läufe gezeigt, das neueste zuerst; JSON und Exporte beginnen mit \
        dem ältesten. Aufbewahrt werden die neuesten 10.000 Einträge, verschlüsselt und ohne Geheimnisse.
        """,
        """
        A time is an instant such as 2026-01-31T08:15:00Z, or an age: 90s, 15m, 2h, 7d. The variable \
        OUTPOST_LOG_LEVEL sets the lowest level that the tool logs, or off; without it the level is notice.
        """:
            """
        Eine Zeit ist ein Zeitpunkt wie 2026-01-31T08:15:00Z oder ein Alter: 90s, 15m, 2h, 7d. Die Variable \
        OUTPOST_LOG_LEVEL setzt die niedrigste Stufe, die protokolliert wird, oder off; ohne sie gilt \
        notice.
        """,
        "The directory of a clone.": "Das Verzeichnis eines Klons.",
        "The number of events.": "Die Anzahl der Ereignisse.",
        "Write the entries to a file: .html for a page in a browser, .gz to compress, else text.":
            "Die Einträge in eine Datei schreiben: .html für eine Seite im Browser, .gz zum Packen, sonst Text.",
        "The language of the page: %1.": "Die Sprache der Seite: %1.",
        "Remove the entries below this level.": "Die Einträge unterhalb dieser Stufe entfernen.",
        "Remove all entries.": "Alle Einträge entfernen.",
        "--last is 1 or more.": "--last ist mindestens 1.",
        "Filters, --export, --remove-below and --clear are for the log of the tool.":
            "Filter, --export, --remove-below und --clear gelten dem Protokoll des Werkzeugs.",
        "--language is for --export.": "--language gehört zu --export.",
        "--export, --remove-below and --clear exclude each other.":
            "--export, --remove-below und --clear schließen einander aus.",
        "%1 damaged entries are left out.": "%1 beschädigte Einträge sind ausgelassen.",
        "%1 The log was altered in %2: entries are missing, doubled or in another order.":
            "%1 Das Protokoll wurde verändert (%2): Einträge fehlen, sind doppelt oder anders geordnet.",
        "place": "Stelle",
        "places": "Stellen",
        "Only this level and above, such as error.": "Nur diese Stufe und höhere, etwa error.",
        "Only this part of the tool, such as outpost.clone.": "Nur dieser Teil des Werkzeugs, etwa outpost.clone.",
        "Only since this time.": "Nur seit dieser Zeit.",
        "Only before this time.": "Nur vor dieser Zeit.",
        "Only this process.": "Nur dieser Prozess.",
        "Only this run, by its correlation id.": "Nur dieser Lauf, nach seiner Korrelationskennung.",
        "'%1' is not a level. The levels are %2.": "'%1' ist keine Stufe. Die Stufen sind %2.",
        "%1 is a time such as 2026-01-31T08:15:00Z or 2h, not '%2'.":
            "%1 ist eine Zeit wie 2026-01-31T08:15:00Z oder 2h, nicht '%2'.",
        "Keep small secrets in vaults with a password.": "Kleine Geheimnisse in Tresoren mit Kennwort aufbewahren.",
        """
        Secrets are never arguments, because other users can read those. The command asks for a secret, or reads \
        a file or the standard input.
        """:
            """
        Geheimnisse sind nie Argumente, denn die können andere Benutzer lesen. Der Befehl fragt nach einem \
        Geheimnis oder liest eine Datei oder die Standardeingabe.
        """,
        "The name of the vault.": "Der Name des Tresors.",
        "A file with the password; a line break at the end is ignored.":
            "Eine Datei mit dem Kennwort; ein Zeilenende am Schluss wird nicht beachtet.",
        "The vault %1 has a password, and nobody is here to be asked.":
            "Der Tresor %1 hat ein Kennwort, und niemand ist da, der gefragt werden kann.",
        "New password: ": "Neues Kennwort: ",
        "A new password is needed, and none was given.": "Ein neues Kennwort ist nötig, und keines wurde angegeben.",
        "Give a file that holds it, or --no-password for the key of this account alone.":
            "Eine Datei angeben, die es enthält, oder --no-password für den Schlüssel dieses Kontos allein.",
        "Create a vault.": "Einen Tresor anlegen.",
        "The name of the new vault.": "Der Name des neuen Tresors.",
        "Open the vault with the key of this account only.": "Den Tresor nur mit dem Schlüssel dieses Kontos öffnen.",
        "--no-password and --password-file exclude each other.":
            "--no-password und --password-file schließen einander aus.",
        "Made the vault %1.": "Der Tresor %1 wurde angelegt.",
        "Check that the password opens a vault.": "Prüfen, ob das Kennwort einen Tresor öffnet.",
        "A wrong password counts: see the retry limit of its policy.":
            "Ein falsches Kennwort zählt: siehe die Höchstzahl der Versuche in seiner Richtlinie.",
        "The vault %1 opens; it has %2.": "Der Tresor %1 lässt sich öffnen; er hat %2.",
        "values": "Werte",
        "List the vaults, or the values of one.": "Die Tresore auflisten, oder die Werte von einem.",
        "Value": "Wert",
        "Keep a value in a vault.": "Einen Wert in einem Tresor aufbewahren.",
        "UTF-8 is kept as text, anything else as bytes.": "UTF-8 wird als Text aufbewahrt, alles andere als Bytes.",
        "The name of the value.": "Der Name des Werts.",
        "A file with the value; its content is taken unchanged.":
            "Eine Datei mit dem Wert; ihr Inhalt wird unverändert genommen.",
        "Value of %1: ": "Wert von %1: ",
        "Write a value of a vault unchanged to the standard output.":
            "Einen Wert eines Tresors unverändert auf die Standardausgabe schreiben.",
        "Write the value as JSON: text unchanged, bytes as base64.":
            "Den Wert als JSON schreiben: Text unverändert, Bytes in base64.",
        "The vault %1 has no value %2.": "Der Tresor %1 hat keinen Wert %2.",
        "List its values: outpost vault list %1": "Seine Werte auflisten: outpost vault list %1",
        "Remove a value from a vault.": "Einen Wert aus einem Tresor entfernen.",
        "Change the password of a vault.": "Das Kennwort eines Tresors ändern.",
        "A file with the new password; a line break at the end is ignored.":
            "Eine Datei mit dem neuen Kennwort; ein Zeilenende am Schluss wird nicht beachtet.",
        "From then on, open the vault with the key of this account only.":
            "Den Tresor von nun an nur mit dem Schlüssel dieses Kontos öffnen.",
        "--no-password and --new-password-file exclude each other.":
            "--no-password und --new-password-file schließen einander aus.",
        "The password of the vault %1 was changed.": "Das Kennwort des Tresors %1 wurde geändert.",
        "Show the password policy of a vault, or change it.":
            "Die Kennwortrichtlinie eines Tresors zeigen oder ändern.",
        "Whether the key of this account may open the vault without a password.":
            "Ob der Schlüssel dieses Kontos den Tresor ohne Kennwort öffnen darf.",
        "The minimum number of characters.": "Die Mindestzahl der Zeichen.",
        "Whether a digit is required.": "Ob eine Ziffer nötig ist.",
        "Whether an upper-case letter is required.": "Ob ein Großbuchstabe nötig ist.",
        "Whether a lower-case letter is required.": "Ob ein Kleinbuchstabe nötig ist.",
        "Whether one of ~!@#$%^&*()-+ is required.": "Ob eines von ~!@#$%^&*()-+ nötig ist.",
        "The days for which a password is valid; 0 for no limit.":
            "So viele Tage gilt ein Kennwort; 0 für keine Grenze.",
        "The minimum number of different characters.": "Die Mindestzahl verschiedener Zeichen.",
        "The seconds after which the vault locks itself; 0 for never.":
            "Nach so vielen Sekunden schließt sich der Tresor selbst; 0 für nie.",
        "The number of wrong passwords in a row that destroys the vault; 0 for never.":
            "So viele falsche Kennwörter in Folge zerstören den Tresor; 0 für nie.",
        "Report as JSON; this is always so.": "Ausgabe als JSON; das ist immer so.",
        "Destroy a vault for ever; no password is needed.":
            "Einen Tresor für immer zerstören; ein Kennwort ist nicht nötig.",
        "Destroy the vault %1 with all it holds?": "Den Tresor %1 mit seinem ganzen Inhalt zerstören?",
        "Say --yes to destroy it.": "Mit --yes wird er zerstört.",
        "The vault %1 is no more.": "Den Tresor %1 gibt es nicht mehr.",
        "There is no home folder for the log.": "Für das Protokoll gibt es keinen Ordner des Benutzers.",
        "Name a folder of your own in XDG_STATE_HOME.": "In XDG_STATE_HOME einen eigenen Ordner nennen.",
    ]
}
