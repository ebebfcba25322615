import GRDB
import ODataModel
import ODataSQL

/// The settings of a salvaged store. Lost settings are reconstructed from other places.
struct SalvagedSettings {
    let database: Database
    /// The damaged file, for messages.
    let path: String

    /// Restores the settings without which the store cannot be opened.
    ///
    /// - Throws: ``OfflineError/originLost(path:)`` if nothing tells the service of the store;
    ///   ``OfflineError/damagedQueue(reason:)`` if the tables do not match the given service.
    func complete(with origin: StoreOrigin?) throws {
        guard try isIncomplete() else { return }
        if try Settings.bytes("service.metadata", in: database) == nil {
            let model = try keptModel() ?? fitting(origin)
            try Settings.set("service.metadata", CSDLWriter.xml(model, version: model.version), in: database)
        }
        if try Settings.text("service.root", in: database) == nil {
            guard let origin else { throw OfflineError.originLost(path: path) }
            try Settings.set("service.root", origin.serviceRoot, in: database)
        }
        if try Settings.text("engine.version", in: database) == nil {
            try Settings.set("engine.version", String(version()), in: database)
        }
        try TextComparison(ofIndexesIn: database).keep(in: database)
        try keepTemporaryKeys()
    }

    /// Avoids a hold of the queue if the damaged file is known to be the newest state of the store, and holds the
    /// queue otherwise.
    ///
    /// - Parameters:
    ///   - file: the damaged file.
    ///   - notes: the notes of this device about its stores.
    ///   - isCertain: whether every row is known to have been in use.
    func keepIncarnation(of file: StoreFileIdentity?, _ notes: IncarnationNotes, isCertain: Bool) throws {
        let (nameSetting, uploadsSetting) = (StoreIncarnation.nameSetting, StoreIncarnation.uploadsSetting)
        let wasNoted = try Settings.text(nameSetting, in: database) != nil
        let noted = file.map(notes.incarnations) ?? []
        if isCertain, let name = noted.first, !wasNoted, let note = notes.note(of: name) {
            // The page with the name is lost, and the file is the noted one.
            try Settings.set(nameSetting, name, in: database)
            try Settings.set(uploadsSetting, String(note.uploads), in: database)
        } else if isCertain, let name = try Settings.text(nameSetting, in: database), noted.contains(name),
            try Settings.text(uploadsSetting, in: database) == nil, let note = notes.note(of: name)
        {
            try Settings.set(uploadsSetting, String(note.uploads), in: database)
        } else if !isCertain {
            // A name without a note.
            try Settings.set(nameSetting, ODataGuid.random().description, in: database)
        }
    }

    private func isIncomplete() throws -> Bool {
        try ["service.metadata", "service.root", "engine.version"].contains {
            try Settings.bytes($0, in: database) == nil
        }
    }

    /// The stored model of the tables. It is the service's model, unless the app has sets of its own.
    private func keptModel() throws -> EntityDataModel? {
        guard let bytes = try LocalModel.kept(in: database), let model = try? CSDLReader.read(xml: bytes),
            !model.container.entitySets.contains(where: \.isClientOnly)
        else { return nil }
        return model
    }

    /// The given model of the service, after the tables have confirmed it.
    private func fitting(_ origin: StoreOrigin?) throws -> EntityDataModel {
        guard let origin else { throw OfflineError.originLost(path: path) }
        let model = try EngineSet.removing(from: origin.model)
        let made = try Set(String.fetchAll(database, sql: "SELECT sql FROM sqlite_master WHERE type = 'table'"))
        guard OfflineLayout(model: model).statements.filter({ $0.hasPrefix("CREATE TABLE") }).allSatisfy(made.contains)
        else {
            throw OfflineError.damagedQueue(
                reason: "the metadata given for \(path) do not match its tables")
        }
        return model
    }

    /// The version of the engine's tables, recognised by the additions of each version.
    private func version() throws -> Int {
        let columns = try database.columns(in: QueueTable.name).map(\.name)
        if columns.contains("counter") { return 9 }
        if columns.contains("conflict") { return 8 }
        if try database.tableExists("outpost_expanded") { return 7 }
        if try database.tableExists("outpost_unreadable") { return 6 }
        if try database.tableExists("outpost_shelf") { return 5 }
        guard try database.tableExists("outpost_upserted") else {
            return columns.contains("options") ? 2 : 1
        }
        return try database.tableExists("outpost_seen") ? 3 : 4
    }

    /// Stores the temporary keys that were given, so that none is given twice. Former keys of rows are still
    /// known.
    private func keepTemporaryKeys() throws {
        guard let bytes = try Settings.bytes("service.metadata", in: database), let model = try? CSDLReader.read(bytes)
        else { return }
        for row in try Row.fetchAll(database, sql: "SELECT entity_set, entity_key FROM outpost_alias") {
            let (set, key): (String, String) = (row[0], row[1])
            guard let property = model.shape(ofStored: set)?.key.first?.path, key.hasSuffix(")"),
                let number = key.split(separator: "(").last.flatMap({ Int64($0.dropLast()) }), number < 0
            else { continue }
            let setting = "temporary.\(set).\(property)"
            let given = try Settings.text(setting, in: database).flatMap { Int64($0) } ?? 0
            if number < given { try Settings.set(setting, String(number), in: database) }
        }
    }
}
