import Foundation
import GRDB
import ODataFormat
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// The seeding of a service with rows.
extension StoreService {
    /// Inserts rows in one transaction from a JSON object. The object has a member for each entity set, an
    /// array of entities in OData JSON, and for each singleton, its entity.
    ///
    /// Values that the service would set are accepted, and set if missing. Capabilities, interceptors and
    /// authorization do not apply. `$content` of a media entity is its stream in base64.
    ///
    /// - Parameters:
    ///   - json: the object.
    ///   - references: members that identify a related entity by one of its properties.
    ///   - replacesAll: whether existing rows are deleted first.
    /// - Throws: ``ODataError`` with the set and the position; nothing is changed then.
    public func seed(
        json: [UInt8], references: [SeedReference] = [], replacesAll: Bool = false
    ) async throws {
        let rows: SeedRows
        do {
            rows = try SeedRows(json, references: references, model: model)
        } catch let error as JSONError {
            throw ODataError(
                status: 400, code: "InvalidSeed", message: error.description,
                target: error.path.isEmpty ? nil : error.path)
        }
        try await seed(rows, replacesAll: replacesAll)
    }

    /// Inserts rows that were read in advance, for example to reset a service to its initial state.
    ///
    /// - Throws: ``ODataError``; nothing is changed then.
    public func seed(_ rows: SeedRows, replacesAll: Bool = false) async throws {
        do {
            try await gate.change {
                try await database.write { [self] in try rows.insert(into: self, replacesAll: replacesAll, in: $0) }
            }
        } catch {
            throw ODataError(translating: error)
        }
    }
}

extension ServiceTransaction {
    /// Inserts rows in this transaction, as ``StoreService/seed(_:replacesAll:)`` does; for example, in an
    /// action that resets a service.
    public func seed(_ rows: SeedRows, replacesAll: Bool = false) throws {
        try rows.insert(core: core, replacesAll: replacesAll, in: database)
    }
}

/// A member of a seed row that identifies a related entity by one of its properties.
public struct SeedReference: Hashable, Sendable {
    /// The name of the member, such as `CategoryName`.
    public var member: String
    /// The navigation property that the member sets, such as `Category`.
    public var navigation: String
    /// The property of the related entity that is compared, such as `Name`.
    public var property: String

    /// Creates a reference.
    public init(_ member: String, to navigation: String, by property: String) {
        self.member = member
        self.navigation = navigation
        self.property = property
    }
}

/// The rows of entity sets and singletons, read from JSON.
public struct SeedRows: Sendable {
    struct Row: Sendable {
        var set: String
        var entity: ODataEntity
        var references: [(reference: SeedReference, value: ODataValue)] = []
        var content: [UInt8]?
        var contentType: String?
    }

    private(set) var rows: [Row] = []

    /// Reads rows from JSON.
    ///
    /// - Parameters:
    ///   - json: a JSON object with a member for each entity set and singleton.
    ///   - references: members that identify related entities.
    ///   - model: the model.
    /// - Throws: `JSONError` with the position.
    public init(_ json: [UInt8], references: [SeedReference] = [], model: EntityDataModel) throws {
        let reader = EntityPayloadReader(model: model)
        rows = try JSONScanner.scan(json) { (scanner) throws(JSONError) -> [Row] in
            var rows: [Row] = []
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                let name = key.string
                do throws(JSONError) {
                    if name.hasPrefix("@") {
                        try scanner.skipValue()
                    } else if let set = model.entitySet(name) {
                        try scanner.beginArray()
                        while try scanner.nextElement() {
                            rows.append(
                                try Self.row(&scanner, set.name, type: set.type, references: references, reader: reader)
                            )
                        }
                    } else if let singleton = model.singleton(name) {
                        rows.append(
                            try Self.row(
                                &scanner, singleton.name, type: singleton.type, references: references, reader: reader))
                    } else {
                        throw scanner.error(
                            .unknownProperty(name), at: key.offset, expected: "an entity set or singleton")
                    }
                } catch {
                    throw error.within(name)
                }
            }
            try scanner.expectEnd()
            return rows
        }
    }

    private static func row(
        _ scanner: inout JSONScanner, _ set: String, type: QualifiedName, references: [SeedReference],
        reader: EntityPayloadReader
    ) throws(JSONError) -> Row {
        // The object is read twice: for the members that the model does not know, and as an entity.
        let wanted = Set(references.map(\.member) + ["$content", "ContentType"])
        var members: [String: ODataValue] = [:]
        var ahead = scanner
        try ahead.beginObject()
        while let key = try ahead.nextKey() {
            let name = key.string
            if wanted.contains(name) {
                members[name] = try ODataValue(json: &ahead, type: .untyped("Edm.Untyped"), model: reader.model)
            } else {
                try ahead.skipValue()
            }
        }
        var row = Row(set: set, entity: try reader.readInstance(&scanner, declared: type))
        for reference in references {
            if let value = members[reference.member], !value.isNull,
                row.entity.shape.navigationProperty(reference.navigation) != nil
            {
                row.references.append((reference, value))
                row.entity.dynamicProperties[reference.member] = nil
            }
        }
        if case .string(let text)? = members["$content"], let data = Data(base64Encoded: text) {
            row.content = Array(data)
            row.entity.dynamicProperties["$content"] = nil
            if case .string(let type)? = members["ContentType"] { row.contentType = type }
        }
        return row
    }

    // MARK: Inserting

    func insert(into service: StoreService, replacesAll: Bool, in database: Database) throws {
        try insert(core: service.core, replacesAll: replacesAll, in: database)
    }

    func insert(core: ServiceCore, replacesAll: Bool, in database: Database) throws {
        if replacesAll { try ServiceSchema.removeAllRows(core.mapping, in: database) }
        let writer = core.seedingWriter
        let streams = StreamStore.Inserter(database: database)
        let request = ODataRequest(.create, ODataURL())
        var numbers: [String: Int] = [:]
        for row in ordered(core.mapping.model) {
            let number = numbers[row.set, default: 0]
            numbers[row.set] = number + 1
            do {
                var entity = row.entity
                for (reference, value) in row.references {
                    entity.related[reference.navigation] = .references(
                        [try Self.id(reference, value, of: entity, in: row.set, writer: writer, database: database)])
                }
                entity.control.id = nil
                let written: RowWriter.WrittenRow
                if core.mapping.model.singleton(row.set) != nil,
                    try writer.read(key: nil, in: row.set, database: database) != nil
                {
                    written = try writer.replace(entity, key: nil, in: row.set, request: request, database: database)
                } else {
                    written = try writer.create(entity, in: row.set, request: request, database: database)
                }
                if let content = row.content, let rowID = written.rowID {
                    try streams.insert(
                        content, contentType: row.contentType ?? "application/octet-stream",
                        owner: .init(set: row.set, rowID: rowID))
                }
            } catch let error as ODataError {
                var error = error
                error.message = "\(row.set)/\(number): \(error.message)"
                error.target = "\(row.set)/\(number)" + (error.target.map { "/\($0)" } ?? "")
                throw error
            }
        }
    }

    /// Returns the rows so that referenced sets precede the sets that refer to them.
    private func ordered(_ model: EntityDataModel) -> [Row] {
        var waiting = Set(rows.map(\.set))
        var order: [String] = []
        var needs: [String: Set<String>] = [:]
        for row in rows {
            for (reference, _) in row.references {
                guard let navigation = row.entity.shape.navigationProperty(reference.navigation),
                    let target = model.targetSet(of: row.set, path: navigation.name, target: navigation.target)
                else { continue }
                needs[row.set, default: []].insert(target.name)
            }
        }
        while !waiting.isEmpty {
            // A circle is broken at its first set in alphabetical order.
            let next = waiting.sorted().first { needs[$0]?.isDisjoint(with: waiting.subtracting([$0])) ?? true }
            guard let set = next ?? waiting.min() else { break }
            order.append(set)
            waiting.remove(set)
        }
        return order.flatMap { set in rows.filter { $0.set == set } }
    }

    /// Returns the id of the entity that a member identifies.
    private static func id(
        _ reference: SeedReference, _ value: ODataValue, of entity: ODataEntity, in set: String, writer: RowWriter,
        database: Database
    ) throws -> String {
        guard let target = writer.mapping.tables[set]?.navigation[reference.navigation]?.target,
            let table = writer.mapping.tables[target], let column = table.column(at: reference.property)
        else { throw ODataError.notImplemented("The reference \(reference.member)") }
        let plan = try writer.plan(target)
        let sql = "\(plan.selection) WHERE \(column.name.sqlIdentifier) = ? LIMIT 1"
        guard let stored = try? column.codec.encode(value),
            let row = try GRDB.Row.fetchOne(database, sql: sql, arguments: [stored])
        else {
            throw ODataError(
                status: 400, code: "InvalidReference",
                message: "\(reference.member) names no entity of \(target) by its \(reference.property).",
                target: reference.member)
        }
        return try writer.written(plan.stored(row), plan: plan, in: database).id
    }
}
