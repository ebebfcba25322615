import GRDB
import ODataModel
import ODataSQL

/// The model of a store's tables: the service's model with the app's own sets.
enum LocalModel {
    /// The term of a set of drafts that names its active set.
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

    /// The model of the tables as XML; `nil` if it is not stored.
    static func kept(in database: Database) throws -> [UInt8]? { try Settings.bytes(setting, in: database) }

    /// Stores the model of the tables under the next number. A store with the former model recognises the change
    /// by that number.
    static func keep(_ model: EntityDataModel, in database: Database) throws {
        try Settings.set(setting, CSDLWriter.xml(model, version: model.version), in: database)
        try Settings.set(numberSetting, String(try number(in: database) + 1), in: database)
    }

    /// The number of the model of the tables; 0 if none was ever counted.
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

    /// Makes sure that the tables still match the model with a number.
    ///
    /// - Parameter orNext: whether the next number is accepted too.
    /// - Throws: ``OfflineError/modelOutdated``.
    static func require(
        _ number: Int, orNext: Bool = false, of schema: String = "main", in database: Database
    ) throws {
        let found: Int?
        do {
            found = try countedNumber(of: schema, in: database)
        } catch let error as DatabaseError where isDamage(error) {
            // A damaged store is reported by other checks.
            return
        }
        guard let found, found != number, !orNext || found != number + 1 else { return }
        throw OfflineError.modelOutdated
    }

    /// Whether the store is damaged. After other refusals a transaction may have ended, and must not continue.
    private static func isDamage(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR: true
        default: false
        }
    }

    /// Migrates the tables to a model with other sets of the app's own.
    ///
    /// - Parameter purges: whether the app's own data are deleted if a difference is incompatible.
    /// - Throws: ``OfflineError/invalidClientModel(reason:)`` for an incompatible difference; nothing was changed
    ///   then.
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
            // A delta would not bring the values that the rows have lost.
            try QueryTable.forgetLinks(of: query.id, in: database)
        }
        try keep(model, in: database)
    }

    /// Deletes the rows of the app's own sets.
    static func purge(_ model: EntityDataModel, in database: Database) throws {
        for table in ownTables(of: model) {
            try database.execute(sql: "DELETE FROM \(table.table.sqlIdentifier)")
            // The before images of drafts.
            try database.execute(sql: "DELETE FROM outpost_before WHERE entity_set = ?", arguments: [table.set])
        }
    }

    /// The number of rows in the app's own sets, including drafts.
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

    /// Adds the app's own sets, as stored, to options that do not name them. A tool that opens the store of an
    /// unknown app then works with all sets.
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
    /// Whether the set exists only in the store: it is never uploaded or downloaded.
    var isClientOnly: Bool { annotations.annotation(EngineSet.clientOnlyTerm) != nil }
}
