import ODataModel
import ODataService

/// An object package: the types, groups and settings that code was generated for. Generated code has one enumeration
/// for it.
///
/// ```swift
/// let crm = try await CrmDatabase.open(at: "Library/crm", DatabaseProfile(protection: .encrypted(key)))
/// ```
public protocol ObjectPackage: Sendable {
    /// The personalization keys of the package.
    associatedtype Personalization: PersonalizationKeys where Personalization.Package == Self
    /// The package model from which the code was generated.
    static var metadata: GeneratedMetadata { get }
}

/// The number and the entity set of a type of a package.
public struct ObjectType<Package: ObjectPackage>: Hashable, Sendable {
    /// The number, unique in the package and 1 or more.
    public var number: Int32
    /// The entity set.
    public var entitySet: String

    /// Creates a type.
    public init(number: Int32, entitySet: String) {
        self.number = number
        self.entitySet = entitySet
    }
}

/// The name of a synchronization group of a package.
public struct GroupName<Package: ObjectPackage>: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The name.
    public let rawValue: String

    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Creates a name from a literal.
    public init(stringLiteral value: String) { rawValue = value }

    /// The group of sets that name none, unless the package gives it another name.
    public static var `default`: Self { "default" }
    /// The group of log records and personalization keys.
    public static var system: Self { "system" }

    /// The name.
    public var description: String { rawValue }
}
