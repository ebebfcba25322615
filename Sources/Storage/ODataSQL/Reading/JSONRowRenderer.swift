import GRDBSQLite
import ODataFormat
import ODataModel
import ODataQuery
import ODataService

/// Writes rows as OData JSON directly from the columns of a statement (OData JSON Format 4.01, 6).
package struct JSONRowRenderer: RowRenderer {
    let model: EntityDataModel
    let format: ResponseFormat
    /// Whether null values are omitted (`omit-values=nulls`).
    let omitsNulls: Bool
    /// The prefix of control information: `@odata.` or `@`.
    package let prefix: String
    /// The writer of values that are decoded first.
    let entities: EntityPayloadWriter
    private let etagKey: JSONWriter.Key
    private let idKey: JSONWriter.Key
    private let typeKey: JSONWriter.Key

    package init(model: EntityDataModel, format: ResponseFormat, omitsNulls: Bool) {
        self.model = model
        self.format = format
        self.omitsNulls = omitsNulls
        prefix = format.isPrefixed ? "@odata." : "@"
        entities = EntityPayloadWriter(
            model: model, metadata: format.metadata == .full ? .full : format.metadata == .none ? .none : .minimal,
            version: format.version, isIEEE754Compatible: format.isIEEE754Compatible, isPrefixed: format.isPrefixed)
        etagKey = JSONWriter.Key("\(prefix)etag")
        idKey = JSONWriter.Key("\(prefix)id")
        typeKey = JSONWriter.Key("\(prefix)type")
    }

    /// The JSON object of a row without its closing brace, and its expanded members. Several objects share a row,
    /// so that a tree needs memory only for its distinct rows.
    struct Object: Sendable {
        var writer: JSONWriter
        /// The entity's id, if the next links of expanded collections need it.
        var id: String?
        /// The type of the entity, if it has expanded members.
        var type: QualifiedName?
        /// The end of each complex value with expanded members by its path, and whether the value is empty.
        var places: [[String]: (offset: Int, isEmpty: Bool)] = [:]
        /// The expanded members in the order in which they are written.
        var members: [Member] = []

        /// An expanded member.
        struct Member: Sendable {
            /// The position in the bytes of the object; the end for members of the object itself.
            var offset: Int
            var needsComma: Bool
            var name: String
            var related: RelatedItems<Object>
        }

        /// Inserts a member after the existing ones at the same position.
        mutating func insert(_ member: Member) {
            let place = members.lastIndex { $0.offset <= member.offset }.map { $0 + 1 } ?? 0
            members.insert(member, at: place)
        }
    }

    func item(_ row: StoredRow, _ plan: ResultPlan) throws -> Object {
        var writer = JSONWriter(reservingCapacity: 256)
        var places: [[String]: (offset: Int, isEmpty: Bool)] = [:]
        try open(row, plan, columns: nil, to: &writer) { path, offset, isEmpty in places[path] = (offset, isEmpty) }
        guard !plan.expandSources.isEmpty else { return Object(writer: writer, places: places) }
        return Object(
            writer: writer, id: try row.id(plan, model), type: (row.variant(plan).0 ?? plan.shape).name, places: places)
    }

    /// A closure that receives the end of a complex value: its path, the position of its closing brace, and whether
    /// the value is empty.
    typealias ComplexEnd = (_ path: [String], _ offset: Int, _ isEmpty: Bool) -> Void

    /// Writes a row's object without its closing brace.
    ///
    /// - Parameters:
    ///   - columns: the columns that are copied directly, if the plan allows it.
    ///   - ended: called at the end of each complex value.
    func open(
        _ row: StoredRow, _ plan: ResultPlan, columns: JSONColumns?, to writer: inout JSONWriter,
        ended: ComplexEnd? = nil
    ) throws {
        if let columns {
            writer.beginObject()
            if format.metadata != .none { try writeControl(row, plan, derived: nil, to: &writer) }
            let values = StoredValueWriter(model: model, isIEEE754Compatible: format.isIEEE754Compatible)
            let isWhole = plan.notLoaded.map { row.isNull($0) } ?? true
            // A closure here would copy the plan for each row.
            for column in columns.columns
            where !columns.write(column, of: row, to: &writer, values, writesNulls: isWhole && !omitsNulls) {
                try write(plan.fields[Int(column.field)], row, plan: plan, to: &writer)
            }
            return
        }
        let (derived, fields) = row.variant(plan)
        writer.beginObject()
        if format.metadata != .none { try writeControl(row, plan, derived: derived, to: &writer) }
        for field in fields { try write(field, row, plan: plan, to: &writer, path: [], ended: ended) }
        if let (index, names) = plan.dynamic, !row.isNull(index) {
            try writeDynamic(row, index, names: names, plan: plan, to: &writer)
        }
    }

    private func writeControl(
        _ row: StoredRow, _ plan: ResultPlan, derived: TypeShape?, to writer: inout JSONWriter
    ) throws {
        if derived != nil || format.metadata == .full, row.isEntity(plan) {
            writer.key(typeKey)
            writer.string("#\((derived ?? plan.shape).name)")
        }
        // A client that knows the model computes the id from the path, or from the key if it is present.
        if format.metadata == .full || (!plan.hasKeyInFields && !plan.id.isInPath), let id = try row.id(plan, model) {
            writer.key(idKey)
            writer.string(id)
        }
        if case .column(let index) = plan.etag, !row.isNull(index), row.isEntity(plan) {
            writer.key(etagKey)
            row.withText(index) { writer.string(utf8: $0) }
        }
    }

    private func write(
        _ field: ResultPlan.Field, _ row: StoredRow, plan: ResultPlan, to writer: inout JSONWriter,
        path: [String] = [], ended: ComplexEnd? = nil
    ) throws {
        switch field {
        case .value(let name, _, let slot):
            if row.isNull(slot.index) {
                guard !omitsNulls, row.isLoaded(slot, plan) else { return }
                writer.key(name)
                writer.null()
            } else {
                if slot.isDynamic, format.metadata != .none { writeType(of: name, slot, row, to: &writer) }
                writer.key(name)
                try StoredValueWriter(model: model, isIEEE754Compatible: format.isIEEE754Compatible)
                    .write(slot, row, plan: plan, to: &writer)
            }
        case .complex(let name, _, _, let presence, let fields):
            if let presence, row.isNull(presence) || row.integer(presence) == 0 {
                let isLoaded = fields.isEmpty || fields.contains { self.isLoaded($0, row, plan: plan) }
                guard isLoaded, !omitsNulls else { return }
                writer.key(name)
                writer.null()
                return
            }
            writer.key(name)
            writer.beginObject()
            let start = writer.bytes.count
            let inner = ended == nil ? [] : path + [name]
            for field in fields { try write(field, row, plan: plan, to: &writer, path: inner, ended: ended) }
            ended?(inner, writer.bytes.count, writer.bytes.count == start)
            writer.endObject()
        case .derived(let shape, let discriminator, let fields):
            guard row.text(discriminator) == shape.name.description else { return }
            for field in fields { try write(field, row, plan: plan, to: &writer) }
        case .dynamic(let index):
            if !row.isNull(index) { try writeDynamic(row, index, names: nil, plan: plan, to: &writer) }
        case .link(let name, let set, let shape, let parts):
            guard format.metadata != .none else { return }
            guard parts.allSatisfy({ !row.isNull($0.slot.index) }) else {
                // There is no related entity.
                writer.key(name)
                return writer.null()
            }
            writer.key("\(name)\(prefix)navigationLink")
            writer.string(try row.id(set, shape, key: parts, plan: plan, model: model))
        case .related(let name, _, let presence, let fields):
            writer.key(name)
            guard !row.isNull(presence) else { return writer.null() }
            writer.beginObject()
            for field in fields { try write(field, row, plan: plan, to: &writer) }
            writer.endObject()
        case .nested(let name, let fields):
            writer.key(name)
            writer.beginObject()
            for field in fields { try write(field, row, plan: plan, to: &writer) }
            writer.endObject()
        }
    }

    /// Writes the type of a value that the metadata do not declare, unless JSON determines the type.
    private func writeType(
        of name: String, _ slot: ResultPlan.Slot, _ row: StoredRow, to writer: inout JSONWriter
    ) {
        let isFinite = row.kind(slot.index) == SQLITE_INTEGER || row.double(slot.index).isFinite
        guard let type = entities.statedType(slot.storage.type, ofFiniteValue: isFinite) else { return }
        writer.key("\(name)\(prefix)type")
        writer.string(type)
    }

    private func isLoaded(_ field: ResultPlan.Field, _ row: StoredRow, plan: ResultPlan) -> Bool {
        switch field {
        case .link, .dynamic: true
        case .value(_, _, let slot): row.isLoaded(slot, plan)
        case .complex(_, _, _, _, let fields), .nested(_, let fields), .related(_, _, _, let fields),
            .derived(_, _, let fields):
            fields.contains { isLoaded($0, row, plan: plan) }
        }
    }

    /// Writes dynamic properties. They are stored as JSON, so that their members are copied unless some of them
    /// state a type.
    private func writeDynamic(
        _ row: StoredRow, _ index: Int, names: [String]?, plan: ResultPlan, to writer: inout JSONWriter
    ) throws {
        do {
            try row.withText(index) { bytes in
                guard !bytes.contains(UInt8(ascii: "@")) else {
                    let stored = try WritePlan.dynamicProperties(of: String(decoding: bytes, as: UTF8.self), in: model)
                    for (name, value) in stored.sorted(by: { $0.key < $1.key }) where names?.contains(name) != false {
                        entities.writeDynamic(name, value, to: &writer)
                    }
                    return
                }
                var scanner = JSONScanner(UnsafeRawBufferPointer(bytes))
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    let name = key.string
                    let value = try scanner.skipValue()
                    guard names?.contains(name) != false else { continue }
                    writer.key(name)
                    writer.raw(bytes[value])
                }
            }
        } catch {
            throw StoredValueError(
                table: plan.table, column: "dynamic properties", row: row.name(plan),
                found: "text that is no JSON object (\(error))", expected: "a JSON object")
        }
    }

    func id(of item: Object) -> String? { item.id }

    /// The memory of an object in addition to its bytes.
    private static let objectOverhead = 160

    func size(of item: Object) -> Int { item.writer.bytes.count + Self.objectOverhead }

    func attach(_ related: RelatedItems<Object>, as expand: BoundExpand, to item: inout Object) {
        if let type = item.type, !expand.isOf(type, in: model) { return }
        let path = expand.complexPath
        let name = expand.navigation.name
        guard !path.isEmpty else {
            let isFirst = item.writer.bytes.count == 1 && item.members.isEmpty
            return item.members.append(
                .init(offset: item.writer.bytes.count, needsComma: !isFirst, name: name, related: related))
        }
        // A complex value that is null has no related entities.
        guard let place = item.places[path] else { return }
        item.insert(.init(offset: place.offset, needsComma: !place.isEmpty, name: name, related: related))
        item.places[path]?.isEmpty = false
    }
}

extension ResultPlan.Field {
    /// The property's name; empty for fields with several properties.
    var name: String {
        switch self {
        case .value(let name, _, _), .complex(let name, _, _, _, _), .nested(let name, _),
            .related(let name, _, _, _), .link(let name, _, _, _):
            name
        case .derived, .dynamic: ""
        }
    }
}
