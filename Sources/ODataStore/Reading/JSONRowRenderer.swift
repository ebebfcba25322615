import GRDBSQLite
import ODataModel
import ODataQuery
import ODataService

/// Writes rows as OData JSON straight from the statement's columns (OData JSON Format 4.01, 6).
struct JSONRowRenderer: RowRenderer {
    let model: EntityDataModel
    let format: ResponseFormat
    /// Whether null values are left out (`omit-values=nulls`).
    let omitsNulls: Bool
    /// What control information starts with: `@odata.` in 4.0, `@` in 4.01.
    let prefix: String
    private let etagKey: JSONWriter.Key
    private let idKey: JSONWriter.Key
    private let typeKey: JSONWriter.Key

    init(model: EntityDataModel, format: ResponseFormat, omitsNulls: Bool) {
        self.model = model
        self.format = format
        self.omitsNulls = omitsNulls
        prefix = format.version >= .v401 ? "@" : "@odata."
        etagKey = JSONWriter.Key("\(prefix)etag")
        idKey = JSONWriter.Key("\(prefix)id")
        typeKey = JSONWriter.Key("\(prefix)type")
    }

    /// A row's object that has no closing brace yet, so that expanded rows can be put into it.
    struct Object {
        var writer: JSONWriter
        /// The entity's id, where expanded collections need it for their next links.
        var id: String?
    }

    func item(_ row: StoredRow, _ plan: ResultPlan) throws -> Object {
        var writer = JSONWriter(reservingCapacity: 256)
        try open(row, plan, nil, to: &writer)
        guard !plan.expandSources.isEmpty, let set = plan.set, let key = try row.key(plan, model) else {
            return Object(writer: writer)
        }
        return Object(
            writer: writer, id: EntityID.canonical(set: set, key: key, shape: plan.shape, model: model))
    }

    /// Writes a row's object without its closing brace.
    ///
    /// - Parameter keys: the prepared names of the plan's fields.
    func open(_ row: StoredRow, _ plan: ResultPlan, _ keys: PreparedKeys?, to writer: inout JSONWriter) throws {
        let (derived, fields) = row.variant(plan)
        writer.beginObject()
        if format.metadata != .none { try writeControl(row, plan, derived, to: &writer) }
        for (index, field) in fields.enumerated() {
            let prepared = derived == nil && plan.variant == nil ? keys?.keys[index] : nil
            try write(field, prepared, row, plan, to: &writer)
        }
        if let (index, names) = plan.dynamic, !row.isNull(index) {
            try writeDynamic(row, index, names, plan, to: &writer)
        }
    }

    /// The escaped names of a plan's fields, made once for all rows.
    struct PreparedKeys {
        let keys: [JSONWriter.Key]
        init(_ plan: ResultPlan) { keys = plan.fields.map { JSONWriter.Key($0.name) } }
    }

    private func writeControl(
        _ row: StoredRow, _ plan: ResultPlan, _ derived: Shape?, to writer: inout JSONWriter
    ) throws {
        if derived != nil || format.metadata == .full, row.isEntity(plan) {
            writer.key(typeKey)
            writer.string("#\((derived ?? plan.shape).name)")
        }
        // A client that knows the model computes the id from the key, if it is there.
        if format.metadata == .full || !plan.hasKeyInFields, let set = plan.set, let key = try row.key(plan, model) {
            writer.key(idKey)
            writer.string(EntityID.canonical(set: set, key: key, shape: plan.shape, model: model))
        }
        if case .column(let index) = plan.etag, !row.isNull(index), row.isEntity(plan) {
            writer.key(etagKey)
            row.withText(index) { writer.string(utf8: $0) }
        }
    }

    private func write(
        _ field: ResultPlan.Field, _ prepared: JSONWriter.Key?, _ row: StoredRow, _ plan: ResultPlan,
        to writer: inout JSONWriter
    ) throws {
        func key(_ name: String) {
            if let prepared { writer.key(prepared) } else { writer.key(name) }
        }
        switch field {
        case .value(let name, _, let slot):
            if row.isNull(slot.index) {
                guard !omitsNulls, row.isLoaded(slot, plan) else { return }
                key(name)
                writer.null()
            } else {
                key(name)
                try StoredValueWriter(model: model, isIEEE754Compatible: format.isIEEE754Compatible)
                    .write(slot, row, plan, to: &writer)
            }
        case .complex(let name, _, _, let presence, let fields):
            if let presence, row.isNull(presence) || row.integer(presence) == 0 {
                let isLoaded = fields.isEmpty || fields.contains { self.isLoaded($0, row, plan) }
                guard isLoaded, !omitsNulls else { return }
                key(name)
                writer.null()
                return
            }
            key(name)
            writer.beginObject()
            for field in fields { try write(field, nil, row, plan, to: &writer) }
            writer.endObject()
        case .link(let name, let set, let shape, let parts):
            guard format.metadata != .none else { return }
            writer.key("\(name)\(prefix)navigationLink")
            writer.string(try row.id(set, shape, parts, plan, model))
        case .related(let name, _, let presence, let fields):
            key(name)
            guard !row.isNull(presence) else { return writer.null() }
            writer.beginObject()
            for field in fields { try write(field, nil, row, plan, to: &writer) }
            writer.endObject()
        case .nested(let name, let fields):
            key(name)
            writer.beginObject()
            for field in fields { try write(field, nil, row, plan, to: &writer) }
            writer.endObject()
        }
    }

    private func isLoaded(_ field: ResultPlan.Field, _ row: StoredRow, _ plan: ResultPlan) -> Bool {
        switch field {
        case .link: true
        case .value(_, _, let slot): row.isLoaded(slot, plan)
        case .complex(_, _, _, _, let fields), .nested(_, let fields), .related(_, _, _, let fields):
            fields.contains { isLoaded($0, row, plan) }
        }
    }

    /// Dynamic properties are JSON already; their members are copied.
    private func writeDynamic(
        _ row: StoredRow, _ index: Int, _ names: [String]?, _ plan: ResultPlan, to writer: inout JSONWriter
    ) throws {
        do {
            try row.withText(index) { bytes in
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

    func attach(_ related: RelatedItems<Object>, as expand: BoundExpand, to item: inout Object) {
        let name = expand.navigation.name
        switch related {
        case .none:
            item.writer.key(name)
            item.writer.null()
        case .one(let object):
            item.writer.key(name)
            item.writer.raw(object.writer.bytes + [UInt8(ascii: "}")])
        case .many(let objects, let count, let nextLink):
            if let count { write(count, name, to: &item.writer) }
            item.writer.key(name)
            item.writer.beginArray()
            for object in objects { item.writer.raw(object.writer.bytes + [UInt8(ascii: "}")]) }
            item.writer.endArray()
            if let nextLink {
                item.writer.key("\(name)\(prefix)nextLink")
                item.writer.string(nextLink)
            }
        case .count(let count): write(count, name, to: &item.writer)
        }
    }

    private func write(_ count: Int64, _ name: String, to writer: inout JSONWriter) {
        writer.key("\(name)\(prefix)count")
        if format.isIEEE754Compatible { writer.string(String(count)) } else { writer.integer(count) }
    }
}

extension ResultPlan.Field {
    /// The property's name.
    var name: String {
        switch self {
        case .value(let name, _, _), .complex(let name, _, _, _, _), .nested(let name, _),
            .related(let name, _, _, _), .link(let name, _, _, _):
            name
        }
    }
}
