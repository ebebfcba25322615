import GRDB
import ODataModel
import ODataSQL

/// The model that a store's tables are made for: a service's, with the sets that the app has for itself.
enum LocalModel {
    /// The term that names the active set of a set of drafts.
    static let draftTerm = Vocabulary.offline + "LocalDraft"
    static let setting = "local.metadata"
    private static let numberSetting = "local.metadata.number"

    /// Adds the app's own sets to a service's model.
    ///
    /// - Throws: ``OfflineError/invalidClientModel(reason:)``.
    static func combined(
        _ service: EntityDataModel, _ options: OfflineStore.CreationOptions
    ) throws -> EntityDataModel {
        var schemas = service.schemas
        var sets: [EntitySet] = []
        if let own = options.clientOnlyModel {
            schemas += own.schemas.map { schema in
                var schema = schema
                schema.container = nil
                return schema
            }
            sets += own.container.entitySets.map { set in
                var set = set
                if set.annotations.annotation(EngineSet.clientOnlyTerm) == nil {
                    set.annotations.append(Annotation(term: EngineSet.clientOnlyTerm))
                }
                return set
            }
        }
        for (draft, active) in options.localDrafts.sorted(by: { $0.key < $1.key }) {
            guard let set = service.entitySet(active), let shape = service.shape(set.type) else {
                throw OfflineError.invalidClientModel(reason: "There is no entity set \(active) to have drafts of.")
            }
            guard !shape.hasStream, !shape.properties.contains(where: { $0.type.primitive == .stream }) else {
                throw OfflineError.invalidClientModel(reason: "Drafts of \(active) could not have its streams.")
            }
            sets.append(
                EntitySet(
                    name: draft, type: set.type, bindings: set.bindings,
                    annotations: [
                        Annotation(term: EngineSet.clientOnlyTerm),
                        Annotation(term: draftTerm, value: .constant(kind: "String", text: active)),
                    ]))
        }
        guard !sets.isEmpty else { return service }
        guard let index = schemas.firstIndex(where: { $0.container != nil }) else {
            throw OfflineError.invalidClientModel(reason: "The service has no entity container.")
        }
        schemas[index].container?.entitySets += sets
        do {
            return try EntityDataModel(
                schemas: schemas, version: service.version, includedSchemas: service.includedSchemas,
                references: service.references)
        } catch {
            throw OfflineError.invalidClientModel(reason: "\(error)")
        }
    }

    /// The model that the tables are made for, as XML; `nil` where it is not kept.
    static func kept(in database: Database) throws -> [UInt8]? { try Settings.bytes(setting, in: database) }

    /// Keeps the model that the tables are made for, under the next number: by that, whoever works with the one before
    /// finds out.
    static func keep(_ model: EntityDataModel, in database: Database) throws {
        try Settings.set(setting, CSDLWriter.xml(model, version: model.version), in: database)
        try Settings.set(numberSetting, String(try number(in: database) + 1), in: database)
    }

    /// The number of the model that the tables are made for; 0 where none was ever counted.
    ///
    /// - Parameter schema: the name of the store among those that a connection reads.
    static func number(of schema: String = "main", in database: Database) throws -> Int {
        try countedNumber(of: schema, in: database) ?? 0
    }

    private static func countedNumber(of schema: String, in database: Database) throws -> Int? {
        let table = "\(schema.sqlIdentifier).outpost_setting"
        let statement = try database.cachedStatement(
            sql: "SELECT CAST(value AS TEXT) FROM \(table) WHERE name = ?")
        return try String.fetchOne(statement, arguments: [numberSetting]).flatMap { Int($0) }
    }

    /// Makes sure that the tables are still made for the model of a number.
    ///
    /// - Parameter orNext: whether the one after it will do too.
    /// - Throws: ``OfflineError/modelOutdated``.
    static func require(
        _ number: Int, orNext: Bool = false, of schema: String = "main", in database: Database
    ) throws {
        let found: Int?
        do {
            found = try countedNumber(of: schema, in: database)
        } catch let error as DatabaseError where isDamage(error) {
            // What a damaged store does not tell is for others to speak of.
            return
        }
        guard let found, found != number, !orNext || found != number + 1 else { return }
        throw OfflineError.modelOutdated
    }

    /// Whether the store is damaged: after other refusals a transaction may have ended, and must not go on.
    private static func isDamage(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR: true
        default: false
        }
    }

    /// Brings the tables to a model with other sets of the app's own.
    ///
    /// - Parameter purges: whether what the app has for itself goes where a difference is not compatible.
    /// - Throws: ``OfflineError/invalidClientModel(reason:)`` for a difference that is not compatible; nothing was
    ///   changed then.
    static func migrate(
        from service: EntityDataModel, to model: EntityDataModel, purges: Bool, in database: Database
    ) throws {
        let kept = try kept(in: database)
        let old = try kept.map { try CSDLReader.read(xml: $0) } ?? service
        let differences = model.differences(from: old)
        guard !differences.isEmpty else { return }
        if let breaking = differences.first(where: { !$0.isCompatible }) {
            guard purges else { throw OfflineError.invalidClientModel(reason: breaking.description) }
            try purge(old, in: database)
        }
        let stale = try ModelMigration(from: old, to: model, rebuilds: false).run(in: database)
        for query in try QueryTable.all(in: database) where stale.contains(query.entitySet) {
            // A delta would not bring what the rows have lost.
            try QueryTable.forgetLinks(of: query.id, in: database)
        }
        try keep(model, in: database)
    }

    /// Deletes the rows of the app's own sets.
    static func purge(_ model: EntityDataModel, in database: Database) throws {
        for table in ownTables(of: model) {
            try database.execute(sql: "DELETE FROM \(table.table.sqlIdentifier)")
            // What drafts were made from.
            try database.execute(sql: "DELETE FROM outpost_before WHERE entity_set = ?", arguments: [table.set])
        }
    }

    /// How many rows the app's own sets have, drafts included.
    static func countRows(of model: EntityDataModel, in database: Database) throws -> Int {
        try ownTables(of: model).reduce(0) { sum, table in
            let count = try Int.fetchOne(
                database, sql: "SELECT COUNT(*) FROM \(table.table.sqlIdentifier)")
            return sum + (count ?? 0)
        }
    }

    private static func ownTables(of model: EntityDataModel) -> [TableStorage] {
        let mapping = OfflineLayout(model: model).mapping
        return model.container.entitySets
            .filter { $0.isClientOnly && $0.type.namespace != EngineSet.namespace }
            .compactMap { mapping.tables[$0.name] }
    }

    /// The app's own sets as they are kept with the store, into options that say nothing of them: whoever opens a store
    /// without knowing the app that made it, as a tool does, works with all of it.
    static func adopt(
        from kept: [UInt8]?, beside service: EntityDataModel, into options: inout OfflineStore.CreationOptions
    ) throws {
        guard options.clientOnlyModel == nil, options.localDrafts.isEmpty, !options.purgesClientOnlyData, let kept
        else { return }
        let model = try CSDLReader.read(kept)
        var own: [EntitySet] = []
        for set in model.container.entitySets where set.isClientOnly && set.type.namespace != EngineSet.namespace {
            if let active = set.annotations.annotation(draftTerm)?.value?.string {
                options.localDrafts[set.name] = active
            } else {
                own.append(set)
            }
        }
        guard !own.isEmpty else { return }
        let known = Set(service.schemas.map(\.namespace))
        var schemas = model.schemas.filter { !known.contains($0.namespace) && $0.namespace != EngineSet.namespace }
        guard let index = schemas.firstIndex(where: { $0.namespace == own.first?.type.namespace }) else { return }
        schemas[index].container = EntityContainer(
            name: QualifiedName(schemas[index].namespace, "Container"), entitySets: own)
        options.clientOnlyModel = try EntityDataModel(schemas: schemas, version: model.version)
    }
}

extension EntitySet {
    /// Whether the set is only in the store: it is never uploaded nor downloaded.
    var isClientOnly: Bool { annotations.annotation(EngineSet.clientOnlyTerm) != nil }
}
