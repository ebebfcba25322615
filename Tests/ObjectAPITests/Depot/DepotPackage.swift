// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// The package `Depot`, version 0.
enum Depot: ObjectPackage {
    typealias Personalization = NoPersonalization<Depot>
    static var metadata: GeneratedMetadata { DepotMetadata.metadata }

    /// `Depot.TakeStock`: an operation of the service.
    struct TakeStock: ObjectOperation {
        typealias Package = Depot
        static let operationName: QualifiedName = QualifiedName("Depot", "TakeStock")
        static let importName: String = "TakeStock"
        var target: ObjectReference? { nil }

        /// `count`, Edm.Int32, not null.
        var count: Int32

        init(count: Int32) {
            self.count = count
        }

        func write(to parameters: inout OperationParameters) {
            parameters.set("count", self.count)
        }
    }
}

/// The database of the package `Depot`.
typealias DepotDatabase = PackageDatabase<Depot>

extension PackageDatabase where Package == Depot {
    /// `Papers`, in the group `default`.
    var papers: ObjectSet<Paper> { ObjectSet(self) }

    /// `Parcels`, in the group `default`.
    var parcels: ObjectSet<Parcel> { ObjectSet(self) }

    /// `Tools`, in the group `default`.
    var tools: ObjectSet<Tool> { ObjectSet(self) }

    /// `Trucks`, in the group `default`.
    var trucks: ObjectSet<Truck> { ObjectSet(self) }
}
