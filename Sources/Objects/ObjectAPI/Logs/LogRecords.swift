import OfflineOData

/// The log records of a package.
///
/// Each refused change has a record with both codes. If the service has a set of log records, its own record takes the
/// place of the local one with the next synchronization of the group `system`, and a deletion reaches the service.
///
/// ```swift
/// for record in try await crm.logRecords.of(customer) {
///     print(record.code ?? 0, record.backEndCode ?? "", record.message)
///     try await crm.cancelPending(customer)
///     try await crm.logRecords.delete(record)
/// }
/// try await crm.synchronize([.system])
/// ```
public struct LogRecords<Package: ObjectPackage>: Sendable {
    let keeper: LogRecordKeeper

    /// Returns the records that satisfy a condition; all without one.
    public func all(
        where condition: @Sendable (ObjectLogRecord) -> Bool = { _ in true }
    ) async throws -> [ObjectLogRecord] {
        try await keeper.all().filter(condition)
    }

    /// Returns the records about an object, also if its key has changed since.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``.
    public func of<Object: BusinessObject>(_ object: Object) async throws -> [ObjectLogRecord]
    where Object.Package == Package {
        try await keeper.all(of: try object.requiredRow())
    }

    /// Adds a record. It reaches the service after ``submit()`` with the next synchronization of the group `system`.
    public func add(_ record: ObjectLogRecord) async throws { try await keeper.add(record, for: nil) }

    /// Adds a record about an object.
    ///
    /// - Throws: ``ObjectError/notSaved(type:)``.
    public func add<Object: BusinessObject>(_ record: ObjectLogRecord, for object: Object) async throws
    where Object.Package == Package {
        var record = record
        record.component = Object.typeName.name
        record.entityKey = ObjectReference(object).keyText
        try await keeper.add(record, for: try object.requiredRow())
    }

    /// Deletes a record, here and at the service.
    public func delete(_ record: ObjectLogRecord) async throws { try await keeper.delete(record) }

    /// Submits the records that were added.
    ///
    /// - Throws: ``ObjectError/noLogService`` if the service has no set of log records.
    public func submit() async throws { try await keeper.submit() }
}

extension ObjectReference {
    /// The key in the form of a URL without parentheses; empty if it is not known.
    var keyText: String {
        guard let open = description.firstIndex(of: "("), description.hasSuffix(")") else { return "" }
        return String(description[description.index(after: open)...].dropLast())
    }
}

extension PackageDatabase {
    /// The log records of the package.
    public var logRecords: LogRecords<Package> { LogRecords(keeper: LogRecordKeeper(store: store, package: package)) }
}
