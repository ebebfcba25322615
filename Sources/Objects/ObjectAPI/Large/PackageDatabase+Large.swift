import ODataModel
import ODataService
import OfflineOData

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
