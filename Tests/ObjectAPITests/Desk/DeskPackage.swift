// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ObjectAPI
import ODataModel
import ODataQuery
import ODataService

/// The package `Desk`, version 0.
enum Desk: ObjectPackage {
    typealias Personalization = DeskPersonalization
    static var metadata: GeneratedMetadata { DeskMetadata.metadata }
}

/// The database of the package `Desk`.
typealias DeskDatabase = PackageDatabase<Desk>

extension PackageDatabase where Package == Desk {
    /// `LogRecords`, in the group `system`.
    var logRecords_: ObjectSet<LogRecord> { ObjectSet(self) }

    /// `Notes`, in the group `notes`.
    var notes: ObjectSet<Note> { ObjectSet(self) }

    /// `Parts`, in the group `default`.
    var parts: ObjectSet<Part> { ObjectSet(self) }

    /// `Passes`, in the group `notes`.
    var passes: ObjectSet<Pass> { ObjectSet(self) }

    /// `PersonalizationValues`, in the group `system`.
    var personalizationValues: ObjectSet<PersonalizationValue> { ObjectSet(self) }

    /// `Tickets`, in the group `default`.
    var tickets: ObjectSet<Ticket> { ObjectSet(self) }
}

extension GroupName where Package == Desk {
    /// The synchronization group `notes`.
    static var notes: Self { "notes" }
}

/// The personalization keys of the package `Desk`.
struct DeskPersonalization: PersonalizationKeys {
    typealias Package = Desk
    var values: PersonalizationValues

    init(values: PersonalizationValues) {
        self.values = values
    }

    /// `Area`, Edm.String, kept on this device; `North` unless set.
    var area: String? {
        get { values["Area"] }
        set { values["Area"] = newValue }
    }

    /// `Owner`, Edm.String, kept at the service.
    var owner: String? {
        get { values["Owner"] }
        set { values["Owner"] = newValue }
    }

    /// `Token`, Edm.String, kept in memory.
    var token: String? {
        get { values["Token"] }
        set { values["Token"] = newValue }
    }
}
