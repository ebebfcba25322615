/// A row cursor over the objects of a JSON text: each is taken apart once, and its properties are converted when
/// they are asked for, straight from the text. Nothing is built between the bytes and whoever takes the values: a
/// typed struct, or a database statement.
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
/// It looks at the memory that the scanner looks at: what it gives is valid until the next ``read(_:)`` and only
/// while that memory is.
public final class JSONRow: PropertyReader {
    /// A member's value as it stands in the text.
    public enum Slot {
        /// The object has no such member: not loaded.
        case missing
        /// `null`.
        case null
        /// `true` or `false`, and where in the scanner's buffer.
        case boolean(Bool, offset: Int)
        /// A number.
        case number(JSONNumber)
        /// A string.
        case string(JSONString)
        /// An object or array, checked and not taken apart: where it stands in the scanner's buffer.
        case nested(Range<Int>)
    }

    /// A member that is no property of the shape: control information, annotations, related entities, or what
    /// the model does not know.
    public struct Member {
        /// The name.
        public let name: JSONString
        /// Where the value stands in the scanner's buffer.
        public let range: Range<Int>
    }

    /// The shape whose properties the members are.
    public let shape: TypeShape
    /// The model of nested values.
    public let model: EntityDataModel
    /// Whether values are taken in other forms that can mean one value only, and ``entity(as:)`` leaves out a value that
    /// cannot be read.
    public let isForgiving: Bool
    /// The members beside the properties, in the order of the text.
    public private(set) var members: [Member] = []

    // Plain memory, since these change with every row: arrays of a class would be checked for exclusive access
    // and uniqueness each time.
    private let slots: UnsafeMutablePointer<Slot>
    /// By ordinal plus one: the property that followed last time. Services keep an order, if not the model's.
    private let successors: UnsafeMutablePointer<Int32>
    /// The ordinal that is likely to be asked for next.
    private let predicted: UnsafeMutablePointer<Int>
    private let count: Int
    private let names: UnsafeMutablePointer<String>
    private let types: UnsafeMutablePointer<PrimitiveType?>
    /// Where the row stands, for errors and nested values.
    private var scanner: JSONScanner?
    /// Where in the scanner's buffer it begins.
    private var start = 0

    /// Makes a row with no values.
    ///
    /// - Parameters:
    ///   - shape: the type of the objects.
    ///   - model: the model of nested values.
    ///   - isForgiving: whether a value that cannot be read costs its property alone.
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

    /// Takes the object that comes next.
    ///
    /// - Throws: ``JSONError`` when it is none, when a property stands twice, or when the text ends; the row then
    ///   has no values.
    public func read(_ scanner: inout JSONScanner) throws(JSONError) {
        start = scanner.offset
        do throws(JSONError) {
            try readMembers(&scanner)
        } catch {
            forget()
            throw error
        }
    }

    /// Lets go of the text: every property is not loaded from now on.
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
            // The name that is expected, as most texts have it; else whatever stands there.
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

    /// Where the row stands, for who reads it once more: good as long as the memory is.
    ///
    /// - Returns: a scanner that comes to the row next; `nil` for a row with no values.
    package var place: JSONScanner? {
        guard var scanner else { return nil }
        scanner.revisit(at: start)
        return scanner
    }

    // MARK: Values

    /// A property's value as it stands in the text; the ordinal is the shape's.
    public subscript(ordinal: Int) -> Slot {
        ordinal >= 0 && ordinal < count ? slots[ordinal] : .missing
    }

    /// Whether the text does not have the property with an ordinal.
    public func isMissing(_ ordinal: Int) -> Bool {
        if case .missing = self[ordinal] { true } else { false }
    }

    /// Whether the text has a value other than null for the property with an ordinal.
    public func hasValue(_ ordinal: Int) -> Bool {
        switch self[ordinal] {
        case .missing, .null: false
        default: true
        }
    }

    /// Whether the text has a value other than null that is one of the property's type, for the property with an ordinal.
    package func isReadable(_ ordinal: Int) -> Bool {
        guard ordinal >= 0, ordinal < count, hasValue(ordinal) else { return false }
        switch (slots[ordinal], types[ordinal]) {
        case (.string, .string?): return true
        default: return (try? converted(ordinal)).map { $0.map { !$0.isNull } ?? false } ?? false
        }
    }

    /// The converted value of a property; `nil` when it is not loaded.
    ///
    /// - Throws: ``JSONError`` with the place when the text is no value of the property's type.
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

    /// Reads a value again where it stands: structured ones, and those whose error needs a place.
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

    /// The value of an annotation or of control information among ``members``; `nil` when there is none, and
    /// ``ODataValue/null`` where it is null.
    ///
    /// - Parameter name: the name as the text has it, such as `@Org.OData.Core.V1.Messages`, `Freight@Core.Computed` or
    ///   `@odata.etag`; control information is found in either spelling.
    /// - Throws: ``JSONError`` with the place when the value cannot be read.
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

    /// A member's value, of whatever type JSON tells.
    private func value(of member: Member) throws(JSONError) -> ODataValue? {
        guard var scanner else { return nil }
        scanner.revisit(at: member.range.lowerBound)
        do throws(JSONError) {
            return try ODataValue(json: &scanner, type: .untyped("Edm.Untyped"), model: model)
        } catch {
            throw error.within(member.name.string)
        }
    }

    /// Puts what the members say of the entity where an entity has it; the names are those that whole entities get.
    private func readAnnotations(into control: inout ControlInformation) throws(JSONError) {
        for member in members {
            let text = member.name.string
            guard let at = text.firstIndex(of: "@") else {
                if text.hasPrefix("#") { control.annotations[text] = try value(of: member) }
                continue
            }
            let property = text[..<at]
            var name = text[text.index(after: at)...]
            if name.hasPrefix("odata."), !name.dropFirst(6).contains(".") { name = name.dropFirst(6) }
            if property.isEmpty {
                // A row is of the declared type, and its context is the page's.
                if name == "type" || name == "context" { continue }
                if let path = EntityCodingKey.control.first(where: { $0.0.dropFirst(7) == name })?.1 {
                    if case .string(let value)? = try value(of: member) { control[keyPath: path] = value }
                    continue
                }
            }
            let term = name.contains(".") ? String(name) : "odata.\(name)"
            control.annotations[property.isEmpty ? term : "\(property)@\(term)"] = try value(of: member)
        }
    }

    /// The string that a member beside the properties has; `nil` for null and when there is no such member.
    ///
    /// - Parameters:
    ///   - name: what to look for, such as `@odata.etag`.
    ///   - other: its other spelling, such as `@etag`.
    /// - Throws: ``JSONError`` with the place when the value is no string.
    public func text(of name: StaticString, or other: StaticString) throws(JSONError) -> String? {
        guard var scanner = place(of: name, or: other) else { return nil }
        return try scanner.takeNull() ? nil : try scanner.readString()
    }

    /// The value of a member beside the properties as it stands in the text; missing when there is none.
    ///
    /// - Parameters:
    ///   - name: what to look for, such as `@odata.etag`.
    ///   - other: its other spelling, such as `@etag`.
    public func slot(of name: StaticString, or other: StaticString) throws(JSONError) -> Slot {
        guard var scanner = place(of: name, or: other) else { return .missing }
        return try scanner.readSlot()
    }

    /// A scanner that comes to the value of a member next; `nil` when there is none. Two names and no list of them, which
    /// would be allocated for each row.
    private func place(of name: StaticString, or other: StaticString) -> JSONScanner? {
        guard var scanner,
            let member = members.first(where: { $0.name == name || $0.name == other })
        else { return nil }
        scanner.revisit(at: member.range.lowerBound)
        return scanner
    }

    // MARK: PropertyReader

    /// The shape's name.
    public var typeName: QualifiedName { shape.name }

    /// The value of a property.
    ///
    /// - Throws: ``EntityError/notLoaded(property:type:)``, ``EntityError/unknownProperty(_:type:)`` or
    ///   ``EntityError/malformed(_:)``.
    public func value(of name: String) throws(EntityError) -> ODataValue {
        // Typed values ask in their own order, which is mostly the model's.
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

    /// Every property that the text has, converted, with the control information and annotations among ``members``.
    ///
    /// Other members are left out: related entities, and what the model does not know. If the row forgives, a value that
    /// cannot be read is left out, too, and noted in ``ControlInformation/unreadable``.
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
