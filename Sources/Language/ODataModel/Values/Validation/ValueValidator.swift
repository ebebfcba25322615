/// Checks values against their declared types, nullability, facets and enumeration members (OData CSDL 4.01, 7.1
/// *Nullable* and 7.2 *Type Facets*), and strings against the patterns in their annotations.
///
/// Each kind of check can be disabled. Some services send values that violate their own metadata, and a client that
/// only displays them can accept them.
///
/// ```swift
/// let validator = ValueValidator(model: model)
/// try validator.validate(value, for: property)
/// try ValueValidator(model: model, checks: [.nullability]).validate(order)
/// ```
public struct ValueValidator: Sendable {
    /// The kinds of check.
    public struct Checks: OptionSet, Hashable, Sendable {
        /// The raw bits.
        public let rawValue: Int

        /// Creates a set from its raw bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The types of values, including the ranges of integers.
        public static let types = Checks(rawValue: 1)
        /// The presence of values that must not be null.
        public static let nullability = Checks(rawValue: 2)
        /// The lengths of strings and binary values.
        public static let maxLength = Checks(rawValue: 4)
        /// The digits of decimals, and the fractional digits of seconds.
        public static let precision = Checks(rawValue: 8)
        /// The characters of strings that must be ASCII (`Unicode="false"`).
        public static let unicode = Checks(rawValue: 16)
        /// The reference systems of geo values.
        public static let srid = Checks(rawValue: 32)
        /// The numbers of enumeration values, which must be members or combinations of flags.
        public static let members = Checks(rawValue: 64)
        /// The fractional digits of durations without a stated precision, for which the precision is 0 (OData CSDL
        /// 4.01, 7.2.3). Has an effect only together with ``precision``.
        public static let unstatedPrecision = Checks(rawValue: 128)
        /// The regular expressions of properties (`Validation.Pattern`, `sap:validation-regexp`).
        ///
        /// A pattern that cannot be matched in linear time, such as one with back references, is not checked.
        public static let patterns = Checks(rawValue: 256)

        /// All facets, without types, nullability, members and patterns.
        public static let facets: Checks = [.maxLength, .precision, .unicode, .srid, .unstatedPrecision]
        /// All checks.
        public static let all: Checks = [.types, .nullability, .facets, .members, .patterns]
    }

    /// The model that declares types and enumerations.
    public let model: EntityDataModel
    /// The enabled checks.
    public let checks: Checks

    /// Creates a validator.
    public init(model: EntityDataModel, checks: Checks = .all) {
        self.model = model
        self.checks = checks
    }

    /// Checks all loaded declared properties of an entity or complex value.
    ///
    /// - Throws: ``InvalidValueError`` with the path of the first invalid value.
    public func validate(_ entity: ODataEntity) throws(InvalidValueError) {
        for (ordinal, property) in entity.shape.properties.enumerated() {
            guard let value = entity.values[ordinal] else { continue }
            try validate(value, for: property)
        }
    }

    /// Checks a value for a property.
    ///
    /// - Throws: ``InvalidValueError`` with a path that starts with the property's name.
    public func validate(_ value: ODataValue, for property: Property) throws(InvalidValueError) {
        do throws(InvalidValueError) {
            guard property.type.isCollection else {
                return try validate(value, property.type, property: property)
            }
            guard case .collection(let members) = value else {
                guard checks.contains(.types) else { return }
                throw InvalidValueError(.type(expected: property.type))
            }
            for (index, member) in members.enumerated() {
                do throws(InvalidValueError) {
                    try validate(member, property.type.element, property: property)
                } catch {
                    throw error.within(String(index))
                }
            }
        } catch {
            throw error.within(property.name)
        }
    }

    private func validate(
        _ value: ODataValue, _ type: TypeReference, property: Property
    ) throws(InvalidValueError) {
        if value.isNull {
            guard property.isNullable || !checks.contains(.nullability) else { throw InvalidValueError(.null) }
            return
        }
        switch type {
        case .primitive(let primitive), .typeDefinition(_, let primitive):
            if checks.contains(.types), !value.isOf(primitive) { throw InvalidValueError(.type(expected: type)) }
            try validate(value, primitive, facets: model.facets(of: property))
            if case .string(let text) = value { try validate(text, type, property: property) }
        case .enumeration(let name): try validateMember(value, name)
        case .complex(let name), .entity(let name):
            guard case .complex(let entity) = value else {
                guard checks.contains(.types) else { return }
                throw InvalidValueError(.type(expected: type))
            }
            if checks.contains(.types), let name, !model.isType(entity.shape.name, name) {
                throw InvalidValueError(.type(expected: type))
            }
            try validate(entity)
        case .collection, .untyped: break
        }
    }

    /// Checks a text against the patterns of its property and its type definition.
    private func validate(
        _ text: String, _ type: TypeReference, property: Property
    ) throws(InvalidValueError) {
        guard checks.contains(.patterns) else { return }
        var patterns = [property.validationPattern]
        if case .typeDefinition(let name, _) = type { patterns.append(model.typeDefinition(name)?.validationPattern) }
        for case let pattern? in patterns where (try? RegularExpression.matches(text, pattern: pattern)) == false {
            throw InvalidValueError(.pattern(pattern))
        }
    }

    private func validateMember(_ value: ODataValue, _ name: QualifiedName) throws(InvalidValueError) {
        guard case .enumeration(let number) = value else {
            guard checks.contains(.types) else { return }
            throw InvalidValueError(.type(expected: .enumeration(name)))
        }
        guard checks.contains(.members), let type = model.enumType(name), !type.members.isEmpty else { return }
        let isMember =
            type.isFlags
            ? number & ~type.members.reduce(0) { $0 | $1.value } == 0 : type.members.contains { $0.value == number }
        guard isMember else { throw InvalidValueError(.member(number, of: name)) }
    }

    // MARK: Facets

    private func validate(
        _ value: ODataValue, _ type: PrimitiveType, facets: Facets
    ) throws(InvalidValueError) {
        switch value {
        case .string(let text):
            if checks.contains(.maxLength), let limit = facets.maxLength {
                let length = text.unicodeScalars.count
                guard length <= limit else { throw InvalidValueError(.length(length, limit: limit)) }
            }
            if checks.contains(.unicode), facets.isUnicode == false, text.utf8.contains(where: { $0 >= 0x80 }) {
                throw InvalidValueError(.notASCII)
            }
        case .binary(let bytes):
            if checks.contains(.maxLength), type == .binary, let limit = facets.maxLength, bytes.count > limit {
                throw InvalidValueError(.length(bytes.count, limit: limit))
            }
        case .decimal(let number): try validate(number, facets)
        case .integer(let number) where type == .decimal: try validate(ODataDecimal(number), facets)
        case .double(let number) where type == .decimal && facets.scale != .floating:
            guard number.isFinite || !checks.contains(.precision) else { throw InvalidValueError(.notFinite) }
        case .dateTimeOffset(let instant): try validate(picoseconds: instant.picoseconds, facets)
        case .dateTime(let instant): try validate(picoseconds: instant.picoseconds, facets)
        case .duration(let duration):
            // The default applies only to durations. Services omit the precision of date-times and mean any.
            var facets = facets
            if model.version >= .v4, checks.contains(.unstatedPrecision) { facets.precision = facets.precision ?? 0 }
            try validate(picoseconds: duration.picoseconds, facets)
        case .timeOfDay(let time): try validate(picoseconds: time.picoseconds % picosecondsPerSecond, facets)
        case .geo(let geo):
            // An unstated system is the family's default (OData CSDL 4.01, 7.2.6).
            let declared = facets.isSRIDVariable ? nil : facets.srid ?? type.geoFamily?.defaultSRID
            if checks.contains(.srid), let srid = declared, geo.srid != srid {
                throw InvalidValueError(.srid(geo.srid, expected: srid))
            }
        default: break
        }
    }

    /// Checks the digits of a decimal.
    ///
    /// By the standard, an unstated scale is 0. The check uses this default only with a stated precision, because
    /// many services omit both facets and mean any number.
    private func validate(_ number: ODataDecimal, _ facets: Facets) throws(InvalidValueError) {
        guard checks.contains(.precision) else { return }
        let number = number.normalized
        let scale: Int?
        switch facets.scale {
        case .fixed(let digits): scale = digits
        case .variable, .floating: scale = nil
        case nil: scale = facets.precision == nil || model.version < .v4 ? nil : 0
        }
        let failure = InvalidValueError(.digits(number, precision: facets.precision, scale: scale))
        if let scale, number.scale > scale { throw failure }
        guard let precision = facets.precision else { return }
        // Zero has no significant digits, regardless of the scale (OData CSDL 4.01, 7.2.3 and 7.2.4).
        guard number != ODataDecimal(0) else { return }
        let digits = number.digitCount
        if case .floating? = facets.scale {
            guard digits - number.trailingZeroCount <= precision else { throw failure }
            return
        }
        guard max(digits - number.scale, 0) <= precision - (scale ?? 0), digits <= precision else { throw failure }
    }

    private func validate(picoseconds: Int64, _ facets: Facets) throws(InvalidValueError) {
        guard checks.contains(.precision), let precision = facets.precision, (0..<12).contains(precision) else {
            return
        }
        var unit: Int64 = 1
        for _ in precision..<12 { unit *= 10 }
        guard picoseconds % unit == 0 else { throw InvalidValueError(.fraction(limit: precision)) }
    }
}

extension ODataValue {
    /// Returns whether the value is valid for a primitive type. Integers must be within the type's range, and
    /// narrower numbers are valid for wider types.
    public func isOf(_ type: PrimitiveType) -> Bool {
        switch (self, type) {
        case (.boolean, .boolean), (.string, .string), (.binary, .binary), (.binary, .stream), (.guid, .guid),
            (.date, .date), (.timeOfDay, .timeOfDay), (.dateTimeOffset, .dateTimeOffset), (.dateTime, .dateTime),
            (.duration, .duration), (.duration, .time), (.decimal, .decimal), (.double, .double), (.single, .single),
            (.single, .double), (.double, .single), (.integer, .decimal), (.integer, .double), (.integer, .single):
            true
        case (.integer(let number), _): type.integerRange?.contains(number) == true
        case (.double(let number), .decimal): !number.isFinite
        case (.geo(let geo), _): geo.isOf(type)
        default: false
        }
    }
}
