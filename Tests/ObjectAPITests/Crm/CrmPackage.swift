// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// The package `Crm`, version 1.
enum Crm: ObjectPackage {
    typealias Personalization = CrmPersonalization
    static var metadata: GeneratedMetadata { CrmMetadata.metadata }
}

/// The database of the package `Crm`.
typealias CrmDatabase = PackageDatabase<Crm>

extension PackageDatabase where Package == Crm {
    /// `Customers`, in the group `sales`.
    var customers: ObjectSet<Customer> { ObjectSet(self) }

    /// `SalesOrders`, in the group `sales`.
    var salesOrders: ObjectSet<SalesOrder> { ObjectSet(self) }
}

extension GroupName where Package == Crm {
    /// The synchronization group `sales`.
    static var sales: Self { "sales" }
}

/// The personalization keys of the package `Crm`.
struct CrmPersonalization: PersonalizationKeys {
    typealias Package = Crm
    var values: PersonalizationValues

    init(values: PersonalizationValues) {
        self.values = values
    }

    /// `Territory`, Edm.String, kept on this device; `West` unless set.
    var territory: String? {
        get { values["Territory"] }
        set { values["Territory"] = newValue }
    }
}
