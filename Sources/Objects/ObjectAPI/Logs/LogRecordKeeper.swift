import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// The log records of a database: those of the store, and those of the service's set if the package has one.
struct LogRecordKeeper: Sendable {
    let store: OfflineStore
    let package: PackageModel

    /// The service's set of log records.
    var set: PackageModel.SynchronizedSet? { package.sets.values.first(where: \.isLogRecords) }

    private func options(isHeld: Bool) -> ChangeOptions {
        ChangeOptions(category: PackageModel.systemGroup, isHeld: isHeld)
    }

    // MARK: Reading

    private func serviceRecords() async throws -> [ODataEntity] {
        guard let set, try await store.queries.all().contains(where: { $0.name == set.name }) else { return [] }
        return try await DataService(store).entities(ODataURL(set: set.name))
    }

    /// All records: those of the service, then those of the store, each in the order of their numbers.
    func all() async throws -> [ObjectLogRecord] {
        let own = try await store.logRecords.all().map { ObjectLogRecord($0) }
        return try await serviceRecords().map { ObjectLogRecord($0) }.sorted { $0.messageID < $1.messageID } + own
    }

    /// The records about a row.
    func all(of row: RowReference) async throws -> [ObjectLogRecord] {
        let names = Set(try await store.logRecords.serviceRecords(of: row))
        let own = try await store.logRecords.all(of: row).map { ObjectLogRecord($0) }
        guard !names.isEmpty else { return own }
        return try await serviceRecords().map { ObjectLogRecord($0) }.filter { record in
            if case .service(let name) = record.place { names.contains(name) } else { false }
        }.sorted { $0.messageID < $1.messageID } + own
    }

    // MARK: Writing

    /// Adds a record: to the service's set, where it waits for ``submit()``, or to the store.
    func add(_ record: ObjectLogRecord, for row: RowReference?) async throws {
        let now = record.timestamp ?? store.options.runtime.environment.now()
        // With milliseconds, as other times of the store.
        let at = ODataDateTimeOffset(
            seconds: now.seconds, picoseconds: now.picoseconds / 1_000_000_000 * 1_000_000_000)
        guard let set, let shape = store.model.shape(set.type) else {
            return try await store.logRecords.add(
                StoreLogRecord(
                    operation: record.operation, at: at, component: record.component, entityKey: record.entityKey,
                    message: record.message, level: record.level.name, code: record.code,
                    backEndCode: record.backEndCode), for: row)
        }
        var entity = ODataEntity(shape: shape)
        func put(_ name: String, _ text: String?) throws {
            guard let property = shape.property(name), let type = property.type.primitive, let text, !text.isEmpty
            else { return }
            entity[name] = try ODataValue(lexical: text, type: type)
        }
        try put("Operation", record.operation)
        try put("Timestamp", at.description)
        try put("Component", record.component)
        try put("EntityKey", record.entityKey)
        try put("Message", record.message)
        try put("Level", record.level.name)
        try put("Code", record.code.map(String.init))
        try put("EisCode", record.backEndCode)
        let service = DataService(store.changes.provider(with: options(isHeld: true)))
        _ = try await service.create(entity, in: set.name)
        try await bind()
    }

    /// Deletes a record. The deletion of a record of the service is queued, so that the record goes there too.
    func delete(_ record: ObjectLogRecord) async throws {
        switch record.place {
        case .none: return
        case .store(let id): try await store.logRecords.remove(id)
        case .service(let name):
            guard let set else { return }
            let found = try await DataService(ObjectProvider(base: store)).entities(ODataURL(set: set.name)).first {
                $0["MessageId"]?.lexicalText == name
            }
            guard let found else { return }
            if let state = found.replayState, state.isCreated {
                // The service does not know the record.
                try await store.changes.cancel(.entity(state.row))
            } else {
                try await DataService(store.changes.provider(with: options(isHeld: false))).delete(found, in: set.name)
            }
            try await bind()
        }
    }

    /// Submits the records that the app has added.
    ///
    /// - Throws: ``ObjectError/noLogService`` if the package has no set of log records.
    func submit() async throws {
        guard let set else { throw ObjectError.noLogService }
        try await store.changes.submit(.sets([set.name]))
    }

    /// Finds the rows that the service's records are about. Local records of the same requests are deleted.
    func bind() async throws {
        guard set != nil else { return }
        let records = try await serviceRecords().map { ObjectLogRecord($0) }
        try await store.logRecords.bind(
            records.compactMap { record in
                guard case .service(let name) = record.place else { return nil }
                return ServiceLogPlace(
                    record: name, component: record.component, entityKey: record.entityKey,
                    requestID: record.requestID)
            })
    }
}
