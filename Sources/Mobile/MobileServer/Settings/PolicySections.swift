import ErrorCodes
import ODataModel

/// The sections of `Policies` with their defaults, and the merging of sections that are set in several places.
///
/// A section is a property of the entity `Policies`. Its values are stored as JSON. A missing member keeps the value of
/// the place before: configuration, application, role, user, registration.
struct PolicySections: Sendable {
    private static let sections: Set = [
        "PasswordPolicy", "OfflineLimit", "Security", "Log", "Usage", "Crash", "Throttling", "StoreUpload",
        "UserSwitch",
    ]
    /// The name of the section with the feature switches, which is served as `Features`.
    static let features = "Features"
    /// The maximum number of bytes of a section.
    static let maxLength = 64 * 1024

    private let shapes: DeviceModel
    private var values: [String: ODataValue] = [:]

    /// The names of all sections.
    static let names = sections.union([features])

    /// Creates the sections of a configuration.
    init(_ policies: ApplicationPolicies, _ shapes: DeviceModel) {
        self.shapes = shapes
        func complex(_ name: String, _ values: [String: ODataValue]) -> ODataValue {
            .complex(ODataEntity(shape: shapes.complex(name), values))
        }
        let password = policies.password
        values = [
            "PasswordPolicy": complex(
                "PasswordPolicy",
                [
                    "Enabled": .boolean(password.isEnabled),
                    "DefaultPasswordAllowed": .boolean(password.allowsDefaultPassword),
                    "MinLength": .integer(Int64(password.minimumLength)),
                    "HasDigits": .boolean(password.needsDigits), "HasUpper": .boolean(password.needsUpper),
                    "HasLower": .boolean(password.needsLower), "HasSpecial": .boolean(password.needsSpecial),
                    "ExpirationDays": .integer(Int64(password.expirationDays)),
                    "MinUniqueChars": .integer(Int64(password.minimumUniqueCharacters)),
                    "LockTimeout": .integer(Int64(password.lockTimeout)),
                    "RetryLimit": .integer(Int64(password.retryLimit)),
                ]),
            "OfflineLimit": complex(
                "OfflineLimit",
                [
                    "LockDays": .integer(Int64(policies.lock.offlineDays)),
                    "WipeDays": .integer(Int64(policies.lock.wipeOfflineDays)),
                    "InactiveDays": .integer(Int64(policies.lock.inactiveDays)),
                ]),
            "Security": complex(
                "SecurityPolicy",
                [
                    "AllowPrint": .boolean(policies.security.allowsPrint),
                    "AllowOpenURL": .boolean(policies.security.allowsOpenURL),
                    "AllowCopy": .boolean(policies.security.allowsCopy),
                    "Attestation": .boolean(policies.security.needsAttestation),
                ]),
            "Log": complex(
                "LogPolicy",
                [
                    "Upload": .boolean(policies.log.isUploaded), "Level": .string(policies.log.level),
                    "ExpiryDays": .integer(Int64(policies.log.expiryDays)),
                ]),
            "Usage": complex(
                "UsagePolicy",
                [
                    "Collect": .boolean(policies.usage.isCollected),
                    "Cellular": .boolean(policies.usage.usesCellular),
                    "MaxRecords": .integer(Int64(policies.usage.maximumRecords)),
                ]),
            "Crash": .boolean(policies.uploadsCrashes),
            "Throttling": complex(
                "Throttling",
                [
                    "Enabled": .boolean(policies.throttling.isEnabled),
                    "PerMinute": .integer(Int64(policies.throttling.perMinute)),
                ]),
            "StoreUpload": complex(
                "StoreUploadPolicy",
                [
                    "Enabled": .boolean(policies.storeUpload.isEnabled),
                    "KeepDays": .integer(Int64(policies.storeUpload.keepDays)),
                    "MaxSize": .integer(policies.storeUpload.size),
                ]),
            "UserSwitch": .boolean(policies.uploadsOnUserSwitch),
            Self.features: .complex(
                ODataEntity(
                    shape: shapes.features,
                    [
                        "All": .boolean(true),
                        "Switches": .collection(
                            policies.features.sorted { $0.key < $1.key }.map {
                                complex(
                                    "FeatureSwitch",
                                    [
                                        "Name": .string($0.key), "IsEnabled": .boolean($0.value),
                                        "Parameters": .collection([]),
                                    ])
                            }),
                    ])),
        ]
    }

    /// Merges a section that is set in a later place.
    ///
    /// - Throws: ``PolicyError`` for an unknown section or invalid values.
    mutating func merge(_ name: String, _ json: [UInt8]) throws(PolicyError) {
        let value = try Self.value(json, name, shapes: shapes)
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

    /// Returns the value of a section; `nil` for an unknown name.
    subscript(name: String) -> ODataValue? { values[name] }

    /// Checks the values of a section without keeping them.
    ///
    /// - Throws: ``PolicyError``.
    static func check(_ name: String, _ json: [UInt8], shapes: DeviceModel) throws(PolicyError) {
        let value = try value(json, name, shapes: shapes)
        let given: ODataValue
        do throws(JSONError) {
            given = try ODataValue(json: json, type: .untyped("Edm.Untyped"), model: shapes.model)
        } catch {
            throw .malformed(name: name, detail: error.description)
        }
        if let unknown = unknownMember(of: given, read: value) { throw .unknownValue(name: name, value: unknown) }
    }

    /// Returns the first member that the shape of its object does not have; the reader of JSON skips such members.
    private static func unknownMember(of given: ODataValue, read value: ODataValue) -> String? {
        switch (given, value) {
        case (.complex(let given), .complex(let entity)):
            for (name, member) in given.dynamicProperties.sorted(by: { $0.key < $1.key }) {
                guard let read = entity[name] else { return name }
                if let unknown = unknownMember(of: member, read: read) { return unknown }
            }
            return nil
        case (.collection(let given), .collection(let values)):
            return zip(given, values).lazy.compactMap { unknownMember(of: $0, read: $1) }.first
        default: return nil
        }
    }

    private static func value(
        _ json: [UInt8], _ name: String, shapes: DeviceModel
    ) throws(PolicyError) -> ODataValue {
        guard json.count <= maxLength else { throw .tooLong(name: name) }
        let type: TypeReference
        if name == features {
            type = .complex(shapes.features.name)
        } else if sections.contains(name), let property = shapes.policies.property(name) {
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
