import ODataModel
import ODataService
import OfflineOData

/// The path of a large attribute that holds text. Generated code has one for each stream whose `Core.MediaType` is a
/// text.
public struct LargeTextPath: SelectablePath {
    /// The path, relative to the start of the query.
    public let odataPath: String

    /// Creates the path of an attribute.
    public init(_ paths: some TypedPaths, _ name: String) {
        odataPath = paths.odataPath.isEmpty ? name : "\(paths.odataPath)/\(name)"
    }
}

/// Large attributes, which are not read with their objects.
extension PackageDatabase {
    /// Returns a large attribute of an object.
    ///
    /// ```swift
    /// try await crm.large(\.photo, of: customer).copy(fromFile: "ada.jpg")
    /// ```
    public func large<Object: BusinessObject>(
        _ path: KeyPath<Object.Paths, StreamPath>, of object: Object
    ) -> LargeAttribute where Object.Package == Package {
        large(Object.Paths(odataPath: "")[keyPath: path].odataPath, of: object.odataEntity)
    }

    /// Returns a large text of an object.
    public func large<Object: BusinessObject>(
        _ path: KeyPath<Object.Paths, LargeTextPath>, of object: Object
    ) -> LargeText where Object.Package == Package {
        LargeText(large(Object.Paths(odataPath: "")[keyPath: path].odataPath, of: object.odataEntity))
    }

    /// Returns the content of a media entity.
    public func large<Object: BusinessObject & MediaEntity>(
        contentOf object: Object
    ) -> LargeAttribute where Object.Package == Package {
        large(nil, of: object.odataEntity)
    }

    /// Returns a large attribute of an entity.
    ///
    /// - Parameter attribute: the attribute; `nil` for the content of a media entity.
    func large(_ attribute: String?, of entity: ODataEntity) -> LargeAttribute {
        let type = entity.shape.name
        let row = entity.replayState?.row
        let root = row.map { String($0.set.prefix { $0 != "/" }) }
        let place = LargePlace(
            store: store, type: type, row: row, attribute: attribute,
            category: root.flatMap { package.sets[$0]?.group } ?? package.defaultGroup)
        let stated = attribute.flatMap { entity.shape.property($0)?.mediaType }
        return LargeAttribute(place, contentType: stated ?? "application/octet-stream")
    }
}
