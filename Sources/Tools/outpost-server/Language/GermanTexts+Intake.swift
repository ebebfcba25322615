extension GermanTexts {
    /// The texts of the commands for bundles and for what devices have uploaded.
    static let intake: [String: String] = [
        "List, add, stage and remove customization bundles.":
            "Anpassungspakete auflisten, hinzufügen, einstufen und entfernen.",
        """
        A bundle is a zip archive with files for an app. Its manifest.json is read when it is added. Devices see a \
        bundle with the stage current; those of testers see the one that is assigned to them.
        """:
            """
        Ein Paket ist ein Zip-Archiv mit Dateien für eine App. Sein manifest.json wird beim Hinzufügen gelesen. Geräte \
        sehen ein Paket mit der Stufe current; Geräte von Testern sehen das Paket, das ihnen zugewiesen ist.
        """,
        "List the bundles of an application.": "Die Pakete einer Anwendung auflisten.",
        "STAGE": "STUFE",
        "BYTES": "BYTES",
        "KIND": "ART",
        "DEFAULT": "STANDARD",
        "ADDED": "HINZUGEFÜGT",
        "Add a bundle, which is staged.": "Ein Paket hinzufügen, mit der Stufe staged.",
        "The zip archive.": "Das Zip-Archiv.",
        "The name of the bundle.": "Der Name des Pakets.",
        "The version of the bundle.": "Die Fassung des Pakets.",
        "The bundle %1:%2 is staged. Show it to devices with 'bundle stage'.":
            "Das Paket %1:%2 hat die Stufe staged. Geräten wird es mit 'bundle stage' gezeigt.",
        "Set the stage of a bundle.": "Die Stufe eines Pakets setzen.",
        "The stage: staged, testers or current.": "Die Stufe: staged, testers oder current.",
        "There is no stage '%1'.": "Die Stufe '%1' gibt es nicht.",
        "Use staged, testers or current.": "staged, testers oder current verwenden.",
        "The bundle %1:%2 has the stage %3.": "Das Paket %1:%2 hat die Stufe %3.",
        "Make a bundle the default of its application.": "Ein Paket zum Standard seiner Anwendung machen.",
        "The bundle %1:%2 is the default of %3.": "Das Paket %1:%2 ist der Standard von %3.",
        "Remove a bundle.": "Ein Paket entfernen.",
        "The bundle %1:%2 is removed.": "Das Paket %1:%2 ist entfernt.",
        "There is no bundle '%1:%2'.": "Das Paket '%1:%2' gibt es nicht.",
        "List the bundles with 'outpost-server bundle list %1'.":
            "Die Pakete zeigt 'outpost-server bundle list %1'.",
        "List, show, export and delete what devices have uploaded.":
            "Auflisten, zeigen, exportieren und löschen, was Geräte hochgeladen haben.",
        """
        Devices upload logs, traces, crash reports, usage and stores, as far as policies allow it. An upload is data of \
        a stranger: it is shown without its control characters, and exported as it is.
        """:
            """
        Geräte laden Protokolle, Aufzeichnungen, Absturzberichte, Nutzungsdaten und Speicher hoch, soweit Richtlinien es \
        erlauben. Solche Daten kommen von Fremden: Steuerzeichen werden beim Zeigen ersetzt, und beim Exportieren \
        bleiben sie.
        """,
        "List uploads, newest first.": "Hochgeladenes auflisten, das Neueste zuerst.",
        "Uploads of one kind: log, trace, crash, usage or store.":
            "Nur eine Art: log, trace, crash, usage oder store.",
        "Uploads of one device.": "Nur von einem Gerät.",
        "There is no kind '%1'.": "Die Art '%1' gibt es nicht.",
        "Use log, trace, crash, usage or store.": "log, trace, crash, usage oder store verwenden.",
        "DEVICE": "GERÄT",
        "NOTE": "BEMERKUNG",
        "SENT": "GESENDET",
        "Show an upload of text.": "Hochgeladenen Text zeigen.",
        "The identifier of the upload.": "Die Kennung des Hochgeladenen.",
        "The upload is no text.": "Das Hochgeladene ist kein Text.",
        "Write it to a file with 'outpost-server log export'.":
            "Es mit 'outpost-server log export' in eine Datei schreiben.",
        "The rest is longer than %1 bytes.": "Der Rest ist länger als %1 Bytes.",
        "Write the bytes of an upload to a new file.": "Die Bytes des Hochgeladenen in eine neue Datei schreiben.",
        "The file, which must not exist.": "Die Datei, die es noch nicht gibt.",
        "%1 exists or cannot be made.": "%1 gibt es schon, oder die Datei kann nicht angelegt werden.",
        "%1 has %2 bytes.": "%1 hat %2 Bytes.",
        "Delete an upload.": "Hochgeladenes löschen.",
        "The upload %1 is deleted.": "%1 ist gelöscht.",
        "There is no upload '%1'.": "Etwas Hochgeladenes mit der Kennung '%1' gibt es nicht.",
        "List the uploads with 'outpost-server log list'.": "Alles Hochgeladene zeigt 'outpost-server log list'.",
    ]
}
