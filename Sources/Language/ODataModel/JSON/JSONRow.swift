/// A row cursor over the objects of a JSON text.
///
/// Each object is parsed once, and its properties are converted directly from the text on request. No intermediate
/// value is created between the bytes and the consumer, such as a typed struct or a database statement.
///
/// ```swift
/// let row = JSONRow(shape: shape, model: model)
/// try scanner.beginArray()
/// while try scanner.nextElement() {
///     try row.read(&scanner)
///     orders.append(try Order(row: row))
/// }
/// ```
///
/// The row refers to the memory of the scanner. Its values are valid until the next ``read(_:)``, and only as long
/// as the memory.
public final class JSONRow: PropertyReader {
    /// The unconverted value of a member.
    public enum Slot {
        /// The object lacks the member; the property is not loaded.
        case missing
        /// `null`.
        case null
        /// `true` or `false`, and its offset in the scanner's buffer.
        case boolean(Bool, offset: Int)
        /// A number, parsed but not converted.
        case number(JSONNumber)
        /// A string, as a view of the text.
        case string(JSONString)
        /// An object or array, which is validated but not parsed, by its range in the scanner's buffer.
        case nested(Range<Int>)
    }

    /// A member that is not a property of the shape: control information, an annotation, related entities, or a
    /// member that the model does not declare.
    public struct Member {
        /// The name of the member.
        public let name: JSONString
        /// The range of the value in the scanner's buffer.
        public let range: Range<Int>
    }

    /// The shape of the objects.
    public let shape: TypeShape
    /// The model, which declares the types of nested values.
    public let model: EntityDataModel
    /// Whether values in other unambiguous forms are accepted, and ``entity(as:)`` omits unreadable values.
    public let isForgiving: Bool
    /// The members besides the properties, in the order of the text.
    public private(set) var members: [Member] = []

    // Plain memory, because these values change with every row. Arrays in a class would be checked for exclusive
    // access and uniqueness at each change.
    private let slots: UnsafeMutablePointer<Slot>
    /// The property that last followed each property, by ordinal plus one. Services keep one order, which may
    /// differ from the model's.
    private let successors: UnsafeMutablePointer<Int32>
    /// The ordinal that is probably requested next.
    private let predicted: UnsafeMutablePointer<Int>
    private let count: Int
    private let names: UnsafeMutablePointer<String>
    private let types: UnsafeMutablePointer<PrimitiveType?>
    /// The scanner of the row, for errors and nested values.
    private var scanner: JSONScanner?
    /// The offset of the row in the scanner's buffer.
    private var start = 0

    /// Creates a row without values.
    ///
    /// - Parameters:
    ///   - shape: the type of the objects.
    ///   - model: the model, which declares the types of nested values.
    ///   - isForgiving: whether an unreadable value affects only its property.
    public init(shape: TypeShape, model: EntityDataModel, isForgiving: Bool = false) {
        self.shape = shape
        self.model = model
        self.isForgiving = isForgiving
        count = shape.properties.count
        names = .allocate(capacity: count)
        types = .allocate(capacity: count)
        for (ordinal, property) in shape.properties.enumerated() {
            (names + ordinal).initialize(to: property.name)
            (types + ordinal).initialize(to: property.type.primitive)
        }
        slots = .allocate(capacity: count)
        slots.initialize(repeating: .missing, count: count)
        successors = .allocate(capacity: count + 1)
        for index in 0...count { (successors + index).initialize(to: Int32(index)) }
        predicted = .allocate(capacity: 1)
        predicted.initialize(to: 0)
    }

    deinit {
        names.deinitialize(count: count)
        names.deallocate()
        types.deallocate()
        slots.deallocate()
        successors.deallocate()
        predicted.deallocate()
    }

    // MARK: Reading rows

    /// Reads the next object.
    ///
    /// - Throws: ``JSONError`` if the next value is not an object, a property occurs twice, or the text ends. The
    ///   row then has no values.
    public func read(_ scanner: inout JSONScanner) throws(JSONError) {
        start = scanner.offset
        do throws(JSONError) {
            try readMembers(&scanner)
        } catch {
            forget()
            throw error
        }
    }

    /// Discards the values, after which every property is not loaded.
    public func forget() {
        slots.update(repeating: .missing, count: count)
        members.removeAll(keepingCapacity: true)
        predicted.pointee = 0
        scanner = nil
    }

    private func readMembers(_ scanner: inout JSONScanner) throws(JSONError) {
        slots.update(repeating: .missing, count: count)
        if !members.isEmpty { members.removeAll(keepingCapacity: true) }
        predicted.pointee = 0
        let table = shape.propertyNames
        try scanner.beginObject()
        var last = 0
        while true {
            // The expected name in its usual notation is tried first.
            var ordinal = Int(successors[last])
            let taken = scanner.takeExpectedKey(ordinal, in: table)
            if !taken {
                guard let key = try scanner.nextKey() else { break }
                guard let found = key.withUTF8({ table.ordinal(of: $0) }) else {
                    let range = try scanner.skipValue()
                    members.append(Member(name: key, range: range))
                    continue
                }
                ordinal = found
                successors[last] = Int32(ordinal)
            }
            last = ordinal + 1
            if case .missing = slots[ordinal] {
            } else {
                throw scanner.error(.duplicateMember(names[ordinal]), expected: "each member name once")
            }
            do throws(JSONError) {
                slots[ordinal] = try scanner.readSlot()
            } catch {
                throw error.within(names[ordinal])
            }
        }
        self.scanner = scanner
    }

    /// A scanner that is positioned at the row, for reading the row again; `nil` for a row without values. The
    /// scanner is valid as long as the memory.
    package var place: JSONScanner? {
        guard var scanner else { return nil }
        scanner.revisit(at: start)
        return scanner
    }

    // MARK: Values

    /// The unconverted value of a property, by its ordinal in the shape.
    public subscript(ordinal: Int) -> Slot {
        ordinal >= 0 && ordinal < count ? slots[ordinal] : .missing
    }

    /// Returns whether the text lacks the property with an ordinal.
    public func isMissing(_ ordinal: Int) -> Bool {
        if case .missing = self[ordinal] { true } else { false }
    }

    /// Returns whether the text contains a value other than null for the property with an ordinal.
    public func hasValue(_ ordinal: Int) -> Bool {
        switch self[ordinal] {
        case .missing, .null: false
        default: true
        }
    }

    /// Returns whether the text contains a valid value other than null for the property with an ordinal.
    package func isReadable(_ ordinal: Int) -> Bool {
        guard ordinal >= 0, ordinal < count, hasValue(ordinal) else { return false }
        switch (slots[ordinal], types[ordinal]) {
        case (.string, .string?): return true
        default: return (try? converted(ordinal)).map { $0.map { !$0.isNull } ?? false } ?? false
        }
    }

    /// Returns the converted value of a property; `nil` if the property is not loaded.
    ///
    /// - Throws: ``JSONError`` with the position if the text is not valid for the property's type.
    public func value(at ordinal: Int) throws(JSONError) -> ODataValue? {
        guard ordinal >= 0, ordinal < count else { return nil }
        return try converted(ordinal)
    }

    @inline(__always)
    private func converted(_ ordinal: Int) throws(JSONError) -> ODataValue? {
        let value: ODataValue?
        switch (slots[ordinal], types[ordinal]) {
        case (.missing, _): return nil
        case (.null, _): return .null
        case (.boolean(let flag, _), .boolean?): return .boolean(flag)
        case (.string(let string), .string?): return .string(string.string)
        case (.string(let string), let type?): value = string.withUTF8 { ODataValue(lexical: $0, type: type) }
        case (.number(let number), let type?): value = ODataValue(number: number, type: type)
        default: value = nil
        }
        if let value { return value }
        switch try slow(slots[ordinal], ordinal) {
        case .value(let value)?: return value
        case .unreadable(_, let error)?: throw error
        case nil: return nil
        }
    }

    /// Reads a value again from its position, for structured values and for errors that need a position.
    private func slow(_ slot: Slot, _ ordinal: Int) throws(JSONError) -> PropertyReading? {
        guard var scanner else { return nil }
        switch slot {
        case .missing: return nil
        case .null: return .value(.null)
        case .boolean(_, let offset): scanner.revisit(at: offset)
        case .number(let number): scanner.revisit(at: scanner.offset(of: number.text))
        case .string(let string): scanner.revisit(at: string.offset)
        case .nested(let range): scanner.revisit(at: range.lowerBound)
        }
        let property = shape.properties[ordinal]
        let reader = PropertiesOnlyReader(model: model, isForgiving: isForgiving)
        do throws(JSONError) {
            if isForgiving {
                let reading = try reader.readForgivingly(&scanner, property) { (scanner) throws(JSONError) in
                    try reader.readValue(&scanner, type: property.type)
                }
                guard case .unreadable(let lost, let error) = reading else { return reading }
                return .unreadable(lost, error.within(names[ordinal]))
            }
            return .value(try reader.readValue(&scanner, type: property.type))
        } catch {
            throw error.within(names[ordinal])
        }
    }

    /// Returns the value of an annotation or of control information among ``members``; `nil` if there is none, and
    /// ``ODataValue/null`` if the value is null.
    ///
    /// - Parameter name: the name in the text, such as `@Org.OData.Core.V1.Messages`, `Freight@Core.Computed` or
    ///   `@odata.etag`. Control information is found with and without the prefix `odata.`.
    /// - Throws: ``JSONError`` with the position if the value is unreadable.
    public func annotation(_ name: String) throws(JSONError) -> ODataValue? {
        for member in members {
            guard member.name.contains(UInt8(ascii: "@")) || member.name.firstByte == UInt8(ascii: "#") else {
                continue
            }
            let text = member.name.string
            guard text == name || text.replacing("@odata.", with: "@") == name.replacing("@odata.", with: "@") else {
                continue
            }
            return try value(of: member)
        }
        return nil
    }

    /// Returns a member's value, whose type follows from the JSON value.
    private func value(of member: Member) throws(JSONError) -> ODataValue? {
        guard var scanner else { return nil }
        scanner.revisit(at: member.range.lowerBound)
        do throws(JSONError) {
            return try ODataValue(json: &scanner, type: .untyped("Edm.Untyped"), model: model)
        } catch {
            throw error.within(member.name.string)
        }
    }

    /// Adds the control information and annotations among the members, with the same names as for whole entities.
    private func readAnnotations(into control: inout ControlInformation) throws(JSONError) {
        for member in members {
            let text = member.name.string
            guard let (property, behind) = text.halves(atFirst: "@") else {
                if text.begins(with: "#") { control.annotations[text] = try value(of: member) }
                continue
            }
            let name = behind.controlInformation ?? behind
            if property.isEmpty {
                // A row has the declared type and the context of the page.
                if name == "type" || name == "context" { continue }
                if let path = EntityCodingKey.control.first(where: { $0.0.dropFirst(7) == name })?.1 {
                    if case .string(let value)? = try value(of: member) { control[keyPath: path] = value }
                    continue
                }
            }
            let term = name.has(".") ? String(name) : "odata.\(name)"
            control.annotations[property.isEmpty ? term : "\(property)@\(term)"] = try value(of: member)
        }
    }

    /// Returns the string of a member besides the properties; `nil` if the value is null or the member is absent.
    ///
    /// - Parameters:
    ///   - name: the name, such as `@odata.etag`.
    ///   - other: the alternative name, such as `@etag`.
    /// - Throws: ``JSONError`` with the position if the value is not a string.
    public func text(of name: StaticString, or other: StaticString) throws(JSONError) -> String? {
        guard var scanner = place(of: name, or: other) else { return nil }
        return try scanner.takeNull() ? nil : try scanner.readString()
    }

    /// Returns the unconverted value of a member besides the properties; `missing` if the member is absent.
    ///
    /// - Parameters:
    ///   - name: the name, such as `@odata.etag`.
    ///   - other: the alternative name, such as `@etag`.
    public func slot(of name: StaticString, or other: StaticString) throws(JSONError) -> Slot {
        guard var scanner = place(of: name, or: other) else { return .missing }
        return try scanner.readSlot()
    }

    /// Returns a scanner positioned at the value of a member; `nil` if the member is absent. Two parameters avoid
    /// the allocation of an array for each row.
    private func place(of name: StaticString, or other: StaticString) -> JSONScanner? {
        guard var scanner,
            let member = members.first(where: { $0.name == name || $0.name == other })
        else { return nil }
        scanner.revisit(at: member.range.lowerBound)
        return scanner
    }

    // MARK: PropertyReader

    /// The qualified name of the shape's type.
    public var typeName: QualifiedName { shape.name }

    /// Returns the value of a property.
    ///
    /// - Throws: ``EntityError/notLoaded(property:type:)``, ``EntityError/unknownProperty(_:type:)`` or
    ///   ``EntityError/malformed(_:)``.
    public func value(of name: String) throws(EntityError) -> ODataValue {
        // Typed values read properties in a fixed order, which is usually the model's.
        var ordinal = predicted.pointee
        if ordinal >= count || names[ordinal] != name {
            guard let found = shape.ordinal(of: name) else { throw .unknownProperty(name, type: shape.name) }
            ordinal = found
        }
        predicted.pointee = ordinal + 1
        let value: ODataValue?
        do throws(JSONError) {
            value = try converted(ordinal)
        } catch {
            throw .malformed(error)
        }
        if let value { return value }
        throw .notLoaded(property: name, type: shape.name)
    }

    /// Returns an entity with the converted properties, and the control information and annotations among
    /// ``members``.
    ///
    /// Related entities and unknown members are left out. If the row is forgiving, unreadable values are also left
    /// out and recorded in ``ControlInformation/unreadable``.
    public func entity(as shape: TypeShape) throws(EntityError) -> ODataEntity {
        var values = [ODataValue?](repeating: nil, count: count)
        var unreadable: [String: UnreadableValue] = [:]
        do throws(JSONError) {
            for ordinal in 0..<count {
                do throws(JSONError) {
                    values[ordinal] = try converted(ordinal)
                    guard isForgiving, case .complex(let inner)? = values[ordinal] else { continue }
                    for (path, lost) in inner.control.unreadable { unreadable["\(names[ordinal])/\(path)"] = lost }
                } catch {
                    guard isForgiving, case .unreadable(let lost, _)? = try slow(slots[ordinal], ordinal) else {
                        throw error
                    }
                    unreadable[names[ordinal]] = lost
                }
            }
            var entity = ODataEntity(shape: self.shape, values: values)
            entity.control.unreadable = unreadable
            if !members.isEmpty { try readAnnotations(into: &entity.control) }
            return entity
        } catch {
            throw .malformed(error)
        }
    }
}
