#include <errno.h>
#include <stddef.h>
#include <sys/vfs.h>

#include "base/mem.h"
#include "store/filesystem.h"

/* Numbers from statfs(2) and linux/magic.h; some headers lack some of them. FUSE is among them
 * because nothing tells sshfs from a local one. */
static const struct {
    unsigned long type;
    const char *name;
} networks[] = {
    {0x6969, "NFS"},          {0x517b, "SMB"},        {0xfe534d42, "SMB2"},   {0xff534d42, "CIFS"},
    {0x564c, "NCP"},          {0x5346414f, "AFS"},    {0x6b414653, "AFS"},    {0x73757245, "Coda"},
    {0x00c36400, "Ceph"},     {0x01021997, "9P"},     {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
    {0x19830326, "BeeGFS"},   {0x01161970, "GFS"},    {0x7461636f, "OCFS2"},  {0x65735546, "FUSE"},
    {0x20030528, "OrangeFS"}, {0x786f4256, "vboxsf"},
};

const char *filesystem_network_name(unsigned long type)
{
    for (size_t i = 0; i < ARRAY_LEN(networks); i++)
        if (networks[i].type == type)
            return networks[i].name;
    return NULL;
}

int filesystem_ask(const char *folder, const char **network)
{
    struct statfs fs;
    if (statfs(folder, &fs) != 0)
        return -errno;
    /* f_type is signed on some architectures: the upper half would be ones. */
    *network = filesystem_network_name((unsigned long)fs.f_type & 0xffffffffUL);
    return 0;
}
