import ErrorCodes
import ODataModel

/// The sections of `Policies` with their defaults, and the merging of sections that are set in several places.
///
/// A section is a property of the entity `Policies`. Its values are stored as JSON; members that a place leaves out keep
/// the value of the place before: defaults, configuration, application, role, user, registration.
struct PolicySections: Sendable {
    /// The defaults (`mobile-server.md` 13).
    private static let defaults: [String: String] = [
        "PasswordPolicy": """
            {"Enabled":false,"DefaultPasswordAllowed":false,"MinLength":0,"HasDigits":false,"HasUpper":false,\
            "HasLower":false,"HasSpecial":false,"ExpirationDays":0,"MinUniqueChars":0,"LockTimeout":0,"RetryLimit":0}
            """,
        "OfflineLimit": #"{"LockDays":0,"WipeDays":0,"InactiveDays":0}"#,
        "Security": #"{"AllowPrint":true,"AllowOpenURL":true,"AllowCopy":true,"Attestation":false}"#,
        "Log": #"{"Upload":false,"Level":"error","ExpiryDays":7}"#,
        "Usage": #"{"Collect":false,"Cellular":false,"MaxRecords":10000}"#,
        "Crash": "false",
        "Throttling": #"{"Enabled":false,"PerMinute":600}"#,
        "StoreUpload": #"{"Enabled":false,"KeepDays":7,"MaxSize":33554432}"#,
        "UserSwitch": "false",
    ]
    /// The name of the section with the feature switches, which is served as `Features`.
    static let features = "Features"
    /// The maximum number of bytes of a section.
    static let maxLength = 64 * 1024

    private let shapes: DeviceModel
    private var values: [String: ODataValue] = [:]

    /// The names of all sections.
    static var names: Set<String> { Set(defaults.keys).union([features]) }

    /// Creates the default sections.
    init(_ shapes: DeviceModel) {
        self.shapes = shapes
        for (name, text) in Self.defaults { values[name] = try? Self.value(Array(text.utf8), name, shapes) }
    }

    /// Merges a section that is set in a later place.
    ///
    /// - Throws: ``PolicyError`` for an unknown section or invalid values.
    mutating func merge(_ name: String, _ json: [UInt8]) throws(PolicyError) {
        let value = try Self.value(json, name, shapes)
        guard case .complex(let new) = value, case .complex(var old)? = values[name] else {
            values[name] = value
            return
        }
        for property in new.shape.properties {
            guard let given = new[property.name], !given.isNull else { continue }
            if name == Self.features, case .collection(let switches) = given {
                old[property.name] = .collection(Self.merged(old[property.name], with: switches))
            } else {
                old[property.name] = given
            }
        }
        values[name] = .complex(old)
    }

    /// Returns feature switches of which later ones replace earlier ones of the same name.
    private static func merged(_ old: ODataValue?, with new: [ODataValue]) -> [ODataValue] {
        func name(_ value: ODataValue) -> String? {
            if case .complex(let entity) = value, case .string(let name)? = entity["Name"] { name } else { nil }
        }
        var result: [ODataValue] = []
        if case .collection(let switches)? = old { result = switches }
        for value in new {
            if let position = result.firstIndex(where: { name($0) == name(value) }) {
                result[position] = value
            } else {
                result.append(value)
            }
        }
        return result
    }

    /// Returns the value of a section; `nil` for features that are set nowhere.
    subscript(name: String) -> ODataValue? { values[name] }

    /// Checks the values of a section without keeping them.
    ///
    /// - Throws: ``PolicyError``.
    static func check(_ name: String, _ json: [UInt8], _ shapes: DeviceModel) throws(PolicyError) {
        _ = try value(json, name, shapes)
    }

    private static func value(
        _ json: [UInt8], _ name: String, _ shapes: DeviceModel
    ) throws(PolicyError) -> ODataValue {
        guard json.count <= maxLength else { throw .tooLong(name: name) }
        let type: TypeReference
        if name == features {
            type = .complex(shapes.features.name)
        } else if defaults[name] != nil, let property = shapes.policies.property(name) {
            type = property.type
        } else {
            throw .unknown(name: name)
        }
        let value: ODataValue
        do throws(JSONError) {
            value = try ODataValue(json: json, type: type, model: shapes.model)
        } catch {
            throw .malformed(name: name, detail: error.description)
        }
        guard !value.isNull else { throw .malformed(name: name, detail: "null is no policy") }
        if case .complex(let entity) = value {
            if let unknown = entity.dynamicProperties.keys.min() { throw .unknownValue(name: name, value: unknown) }
            for property in entity.shape.properties {
                if case .integer(let number)? = entity[property.name], number < 0 {
                    throw .negative(name: name, value: property.name)
                }
            }
        }
        return value
    }
}

/// The reason why the values of a policy are refused.
enum PolicyError: Error, Hashable {
    case unknown(name: String)
    case unknownValue(name: String, value: String)
    case negative(name: String, value: String)
    case malformed(name: String, detail: String)
    case tooLong(name: String)
}

extension PolicyError: CustomStringConvertible {
    var description: String {
        switch self {
        case .unknown(let name):
            "There is no policy \(name). Use one of \(PolicySections.names.sorted().joined(separator: ", "))."
        case .unknownValue(let name, let value): "The policy \(name) has no value \(value)."
        case .negative(let name, let value): "\(value) of the policy \(name) must not be negative."
        case .malformed(let name, let detail): "The policy \(name) cannot be read: \(detail)"
        case .tooLong(let name): "The policy \(name) is longer than \(PolicySections.maxLength) bytes."
        }
    }
}
