import ODataModel

/// A column that becomes the value of a property: what reading thousands of rows needs to know of it, without the names, types
/// and codecs of ``ResultPlan/Slot``, each of which costs a reference to count.
struct DirectColumn: Sendable {
    /// How a value of the expected storage class is read.
    enum Kind: Sendable {
        case integer, enumeration, boolean, double, single, string
        case date, timeOfDay, instant, guid
        /// An integer, with so many of its digits to the right of the point.
        case scaledDecimal(Int32)
        case decimalBytes
        /// As the slot says.
        case other
    }

    /// The column of the statement.
    var column: Int32
    /// The ordinal of the property.
    var ordinal: Int32
    /// The position of the plan's field.
    var field: Int32
    var kind: Kind

    /// The fields of a plan as columns, in the order of the shape's properties.
    ///
    /// - Returns: `nil` where rows differ in their type or kind, or where a field is more than a value of the shape.
    static func columns(of plan: ResultPlan) -> [DirectColumn]? {
        guard plan.discriminator == nil, plan.variant == nil, plan.dynamic == nil else { return nil }
        var columns: [DirectColumn] = []
        columns.reserveCapacity(plan.fields.count)
        for (position, field) in plan.fields.enumerated() {
            guard case .value(let name, let ordinal?, let slot) = field, !slot.isDynamic,
                plan.shape.properties.indices.contains(ordinal), plan.shape.properties[ordinal].name == name
            else { return nil }
            columns.append(
                DirectColumn(
                    column: Int32(slot.index), ordinal: Int32(ordinal), field: Int32(position), kind: kind(slot.storage)
                ))
        }
        columns.sort { $0.ordinal < $1.ordinal }
        // A property that is there twice has no place of its own in the order.
        guard zip(columns, columns.dropFirst()).allSatisfy({ $0.ordinal < $1.ordinal }) else { return nil }
        return columns
    }

    private static func kind(_ storage: ColumnStorage) -> Kind {
        switch storage.codec {
        case .integer:
            if case .enumeration = storage.type { .enumeration } else { .integer }
        case .boolean: .boolean
        case .double: .double
        case .single: .single
        case .string: .string
        case .date: .date
        case .timeOfDay: .timeOfDay
        case .dateTimeOffset: .instant
        case .guid: .guid
        case .scaledDecimal(let scale): Int32(exactly: scale).map { Kind.scaledDecimal($0) } ?? .other
        case .decimalBytes: .decimalBytes
        default: .other
        }
    }
}
