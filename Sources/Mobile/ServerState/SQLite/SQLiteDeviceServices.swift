extension SQLiteServerState: DeviceServiceStores {
    /// Logs, traces, crashes, usage and stores that devices send.
    public var uploads: any DeviceUploadStore { SQLiteUploadStore(state: self) }
    /// JSON documents of applications, users and devices.
    public var sharedDocuments: any SharedDocumentStore { SQLiteSharedDocumentStore(state: self) }
    /// Numbered messages to devices, and the subscriptions of devices.
    public var messages: any DeviceMessageStore { SQLiteMessageStore(state: self) }
    /// Customization bundles.
    public var bundles: any DeviceBundleStore { SQLiteBundleStore(state: self) }
    /// Log records of devices, and personalization values of users.
    public var records: any DeviceRecordStore { SQLiteRecordStore(state: self) }
}

/// The tables of the device services, which the second version adds.
enum SQLiteDeviceSchema {
    /// Tables of `state.db`. Triggers remove what belongs to a user or registration that goes.
    static let state = """
        create table storage_item (application INTEGER not null references application on delete cascade,
          scope TEXT not null, owner TEXT not null, name TEXT not null, version INTEGER not null,
          size INTEGER not null, sealed BLOB not null, updated_at INTEGER not null,
          primary key (application, scope, owner, name)) strict;
        create table message_head (application INTEGER not null, registration TEXT not null,
          head INTEGER not null, floor INTEGER not null default 0,
          primary key (application, registration),
          foreign key (application, registration) references registration on delete cascade) strict;
        create index message_head_number on message_head (head);
        create table message (application INTEGER not null, registration TEXT not null, number INTEGER not null,
          kind TEXT not null, digest BLOB not null, size INTEGER not null, sealed BLOB not null,
          created_at INTEGER not null, expires_at INTEGER not null, primary key (application, registration, number),
          foreign key (application, registration) references registration on delete cascade) strict;
        create index message_expiry on message (expires_at);
        create table subscription (application INTEGER not null, registration TEXT not null,
          destination TEXT not null, query TEXT not null, suspended INTEGER not null, parameters BLOB,
          version INTEGER not null, primary key (application, registration, destination, query),
          foreign key (application, registration) references registration on delete cascade) strict;
        create index subscription_query on subscription (application, destination, query, registration);
        create table personalization (application INTEGER not null,
          app_user INTEGER not null references app_user on delete cascade, name TEXT not null, sealed BLOB not null,
          version INTEGER not null, primary key (application, app_user, name)) strict;
        create trigger registration_storage after delete on registration begin
          delete from storage_item where application = old.application and scope = 'device' and owner = old.id;
        end;
        create trigger registration_end after update of state on registration when new.state = 205 begin
          delete from storage_item where application = new.application and scope = 'device' and owner = new.id;
          delete from message where application = new.application and registration = new.id;
          delete from message_head where application = new.application and registration = new.id;
          delete from subscription where application = new.application and registration = new.id;
        end;
        create trigger user_storage after delete on app_user begin
          delete from storage_item where application = old.application and scope = 'user' and owner = old.id;
        end;
        """

    /// Tables of `intake.db`.
    static let intake = """
        create table upload (id TEXT primary key, application INTEGER not null, registration TEXT not null,
          app_user INTEGER not null, kind TEXT not null, content_type TEXT not null, note TEXT,
          consented_at INTEGER, announced_size INTEGER, announced_digest BLOB, state TEXT not null,
          received INTEGER not null default 0, digest BLOB, created_at INTEGER not null,
          expires_at INTEGER not null) strict;
        create index upload_device on upload (application, registration);
        create index upload_age on upload (created_at);
        create index upload_expiry on upload (expires_at);
        create table log_record (number INTEGER primary key autoincrement, application INTEGER not null,
          registration TEXT not null, at INTEGER not null, level TEXT not null, message TEXT not null, component TEXT,
          entity_key TEXT, operation TEXT, code INTEGER, back_end_code TEXT, request_id TEXT,
          expires_at INTEGER not null) strict;
        create index log_record_device on log_record (application, registration, number);
        create index log_record_expiry on log_record (expires_at);
        create table bundle (file TEXT primary key, application INTEGER not null, name TEXT not null,
          version TEXT not null, extension TEXT not null, size INTEGER not null default 0, digest BLOB, manifest TEXT,
          stage TEXT not null default 'staged', is_default INTEGER not null default 0,
          created_at INTEGER not null) strict;
        create unique index bundle_key on bundle (application, name, version) where digest is not null;
        create table bundle_part (file TEXT not null references bundle on delete cascade, start INTEGER not null,
          data BLOB not null, primary key (file, start)) strict;
        create table upload_part (upload TEXT not null references upload on delete cascade, start INTEGER not null,
          data BLOB not null, primary key (upload, start)) strict;
        """
}
